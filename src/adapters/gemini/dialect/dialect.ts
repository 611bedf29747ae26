import type { Dialect } from '../../../ports/agent-cli.ts'
import { answerKeys } from '../../system/screen-dialogs.ts'
import { geminiHook } from './hook.ts'
import { geminiLine } from './line.ts'
import { geminiGate, geminiInject } from './reply.ts'
import { geminiScreen } from './screen.ts'
import { geminiAnswerRules } from './screen-rules.ts'

/** How the Gemini CLI speaks. No hook of it can answer a permission: its dialog is answered by keys. */
export const geminiDialect: Dialect = {
  cli: 'gemini',
  hook: geminiHook,
  line: geminiLine,
  screen: geminiScreen,
  keeps: [],
  decision: () => undefined,
  answerKeys: (dialog, decision) => answerKeys(geminiAnswerRules, dialog, decision),
  gate: geminiGate,
  inject: geminiInject,
  nothing: { body: '', exitCode: 0 },
  typing: () => ({
    submit: ['Enter'],
    interrupt: ['Escape'],
    clear: ['C-c'],
    settleMs: 400,
    marker: /\[Pasted Text: \d+ (lines|chars)\]/,
    quit: ['C-c', 'C-c'],
  }),
  // `/` begins a command, `!` switches to a shell, `@` takes a file, `?` alone opens the shortcuts.
  harmless: (text) => (/^\s*[/!@?]/.test(text) ? `Message: ${text.trimStart()}` : text),
}
