import type { AgentCli, Dialect, LoginState } from '../../ports/agent-cli.ts'
import { emptyReply } from '../system/hook-payload.ts'
import { askProgram, versionOf } from '../system/run-program.ts'
import { answerKeys } from '../system/screen-dialogs.ts'
import { typedText } from '../system/typed-text.ts'
import { codexForeign, codexMayHaveRun, codexTranscripts } from './codex-conversations.ts'
import { codexDecision, codexGate, codexHook, codexInject } from './codex-hooks.ts'
import { codexPlan } from './codex-launch.ts'
import { codexAnswerRules, codexScreen } from './codex-screen.ts'
import { codexLine } from './codex-transcript.ts'

/** The Codex CLI of OpenAI. */
export function codexCli(): AgentCli {
  return {
    name: 'codex',
    dialect: codexDialect,
    plan: async (request) => codexPlan(request),
    version: versionOf,
    login,
    transcripts: codexTranscripts(),
    mayHaveRun: codexMayHaveRun,
    foreign: (env) => codexForeign(env),
  }
}

async function login(command: string, signal: AbortSignal): Promise<LoginState> {
  const answer = await askProgram(command, ['login', 'status'], { signal })
  const said = `${answer?.stdout ?? ''}\n${answer?.stderr ?? ''}`
  // After the dash comes a part of the key.
  const isIn = /^Logged in using [^-\n]*/m.exec(said)?.[0].trim()
  if (answer?.code === 0 && isIn) return { state: 'in', detail: isIn }
  if (/^Not logged in/m.test(said))
    return {
      state: 'out',
      detail: 'run `codex login`, or give it a provider with a key of its own in config.toml',
    }
  return { state: 'unknown', detail: '`codex login status` gave an answer that Muster does not know' }
}

/** How the Codex CLI speaks. */
export const codexDialect: Dialect = {
  hook: codexHook,
  line: codexLine,
  screen: codexScreen,
  keeps: [],
  decision: codexDecision,
  answerKeys: (dialog, decision) => answerKeys(codexAnswerRules, dialog, decision),
  gate: codexGate,
  inject: codexInject,
  nothing: emptyReply,
  typing: () => ({
    submit: ['Enter'],
    interrupt: ['Escape'],
    clear: ['C-c'],
    settleMs: 200,
    marker: /\[Pasted Content (?<chars>\d+) chars\](?: #\d+)?/,
    quit: ['C-c', 'C-c'],
  }),
  // `/` begins a command, `!` a shell command, `@` a file search that swallows the first Enter, `#` a note.
  harmless: (text) => typedText(text, /^[/!@#$]/),
}
