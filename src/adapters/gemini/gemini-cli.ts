import type { AgentCli, Dialect } from '../../ports/agent-cli.ts'
import { emptyReply } from '../system/hook-payload.ts'
import { versionOf } from '../system/run-program.ts'
import { answerKeys } from '../system/screen-dialogs.ts'
import { typedText } from '../system/typed-text.ts'
import { geminiGate, geminiHook, geminiInject } from './gemini-hooks.ts'
import { geminiPlan } from './gemini-launch.ts'
import { geminiAnswerRules, geminiScreen } from './gemini-screen.ts'
import { geminiLine, geminiTranscripts } from './gemini-transcript.ts'

/** The Gemini CLI of Google. */
export function geminiCli(): AgentCli {
  return {
    name: 'gemini',
    dialect: geminiDialect,
    plan: geminiPlan,
    version: versionOf,
    login: async () => ({
      state: 'unknown',
      detail:
        'Gemini has no command that reports its login; run `gemini` once by hand and choose how to log in',
    }),
    transcripts: geminiTranscripts,
    // Its id is told by a hook; without one nothing is certain.
    mayHaveRun: async (conversation) =>
      conversation.foreignId === undefined || (await geminiTranscripts(conversation)).length > 0,
    foreign: async () => [],
  }
}

/** How the Gemini CLI speaks. No hook of it can answer a permission: its dialog is answered by keys. */
export const geminiDialect: Dialect = {
  hook: geminiHook,
  line: geminiLine,
  screen: geminiScreen,
  keeps: [],
  decision: () => undefined,
  answerKeys: (dialog, decision) => answerKeys(geminiAnswerRules, dialog, decision),
  gate: geminiGate,
  inject: geminiInject,
  recordsEnds: true,
  nothing: emptyReply,
  typing: () => ({
    submit: ['Enter'],
    interrupt: ['Escape'],
    clear: ['C-c'],
    settleMs: 400,
    marker: /\[Pasted Text: (?:(?<lines>\d+) lines|(?<chars>\d+) chars)(?: #\d+)?\]/,
    quit: ['C-c', 'C-c'],
  }),
  // `/` begins a command, `!` switches to a shell, `@` takes a file, `?` alone opens the shortcuts.
  harmless: (text) => typedText(text, /^[/!@?]/),
}
