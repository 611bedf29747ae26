import type { AgentCli, Dialect, LoginState } from '../../ports/agent-cli.ts'
import { emptyReply } from '../system/hook-payload.ts'
import { askProgram, versionOf } from '../system/run-program.ts'
import { typedText } from '../system/typed-text.ts'
import { piDecision, piGate, piHook, piInject } from './pi-hooks.ts'
import { piPlan } from './pi-launch.ts'
import { piAnswerKeys, piScreen } from './pi-screen.ts'
import { piLine, piTranscripts } from './pi-transcript.ts'

/** The pi coding agent. */
export function piCli(): AgentCli {
  return {
    name: 'pi',
    dialect: piDialect,
    plan: piPlan,
    version: versionOf,
    login,
    transcripts: piTranscripts,
    // Its id is told by a hook; without one nothing is certain.
    mayHaveRun: async (conversation) =>
      conversation.foreignId === undefined || (await piTranscripts(conversation)).length > 0,
    foreign: async () => [],
  }
}

/** pi lists the models that it has a key or a login for. */
async function login(command: string, signal: AbortSignal): Promise<LoginState> {
  const answer = await askProgram(command, ['--offline', '--list-models'], { signal })
  const said = `${answer?.stdout ?? ''}\n${answer?.stderr ?? ''}`
  if (/No models available/i.test(said))
    return { state: 'out', detail: 'no model has a key; run `pi` and /login' }
  const models = said.split('\n').filter((line) => /^\S+ +\S+ /.test(line) && !/^provider /i.test(line))
  if (answer?.code === 0 && models.length > 0)
    return { state: 'in', detail: `${models.length} models can be used` }
  return { state: 'unknown', detail: '`pi --list-models` gave an answer that Muster does not know' }
}

/** How pi speaks, in its session files and through the extension that Muster gives it. */
export const piDialect: Dialect = {
  hook: piHook,
  line: piLine,
  screen: piScreen,
  keeps: [],
  decision: piDecision,
  answerKeys: piAnswerKeys,
  gate: piGate,
  inject: piInject,
  nothing: emptyReply,
  typing: () => ({
    submit: ['Enter'],
    interrupt: ['Escape'],
    clear: ['C-c'],
    settleMs: 300,
    marker: /\[paste #\d+ (?:\+(?<lines>\d+) lines|(?<chars>\d+) chars)\]/,
    quit: ['C-d'],
  }),
  // `/` begins a command, `!` a shell command, `@` takes a file.
  harmless: (text) => typedText(text, /^[/!@]/),
}
