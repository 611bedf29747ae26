import type { AgentCli, Dialect, LoginState } from '../../ports/agent-cli.ts'
import { emptyReply } from '../system/hook-payload.ts'
import { askProgram, versionOf } from '../system/run-program.ts'
import { typedText } from '../system/typed-text.ts'
import { openCodeDecision, openCodeGate, openCodeHook, openCodeInject } from './opencode-hooks.ts'
import { openCodePlan } from './opencode-launch.ts'
import { openCodeScreen } from './opencode-screen.ts'

/** OpenCode. It keeps conversations in a database, so everything is told by the plugin. */
export function opencodeCli(): AgentCli {
  return {
    name: 'opencode',
    dialect: opencodeDialect,
    plan: openCodePlan,
    version: versionOf,
    login,
    transcripts: async () => [],
    mayHaveRun: async () => true,
    foreign: async () => [],
  }
}

/** Credentials are one way among several: a provider may be local, free, or have its key in the configuration. */
async function login(command: string, signal: AbortSignal): Promise<LoginState> {
  const answer = await askProgram(command, ['auth', 'list'], { signal })
  const counts = [...(answer?.stdout ?? '').matchAll(/(\d+) (credential|environment variable)s?/g)]
  const known = counts.reduce((sum, [, count]) => sum + Number(count), 0)
  if (answer?.code === 0 && known > 0)
    return { state: 'in', detail: `${known} credentials or keys are known` }
  return {
    state: 'unknown',
    detail: 'no credentials are stored; a provider in the configuration may need none',
  }
}

/** How OpenCode speaks, through the plugin that Muster gives it. It writes no transcript. */
export const opencodeDialect: Dialect = {
  hook: openCodeHook,
  line: () => [],
  screen: openCodeScreen,
  keeps: [],
  decision: openCodeDecision,
  gate: openCodeGate,
  inject: openCodeInject,
  nothing: emptyReply,
  typing: () => ({
    submit: ['Enter'],
    interrupt: ['Escape'],
    clear: ['C-c'],
    settleMs: 300,
    marker: /\[Pasted ~(?<lines>\d+) lines\]/,
    quit: ['C-c', 'C-c'],
  }),
  // `/` begins a command, `!` a shell command, `@` takes a file or an agent.
  harmless: (text) => typedText(text, /^[/!@]/),
}
