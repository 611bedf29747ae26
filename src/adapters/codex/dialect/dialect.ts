import type { Dialect } from '../../../ports/agent-cli.ts'
import { answerKeys } from '../../system/screen-dialogs.ts'
import { codexHook } from './hook.ts'
import { codexLine } from './line.ts'
import { codexDecision, codexGate, codexInject } from './reply.ts'
import { codexScreen } from './screen.ts'
import { codexAnswerRules } from './screen-rules.ts'

/** How the Codex CLI speaks. */
export const codexDialect: Dialect = {
  cli: 'codex',
  hook: codexHook,
  line: codexLine,
  screen: codexScreen,
  keeps: [],
  decision: codexDecision,
  answerKeys: (dialog, decision) => answerKeys(codexAnswerRules, dialog, decision),
  gate: codexGate,
  inject: codexInject,
  nothing: { body: '', exitCode: 0 },
  typing: () => ({
    submit: ['Enter'],
    interrupt: ['Escape'],
    clear: ['C-c'],
    settleMs: 200,
    marker: /\[Pasted Content \d+ chars\]/,
    quit: ['C-c', 'C-c'],
  }),
  // `/` begins a command, `!` a shell command, `@` a file search that swallows the first Enter, `#` a note.
  harmless: (text) => (/^\s*[/!@#$]/.test(text) ? `Message: ${text.trimStart()}` : text),
}
