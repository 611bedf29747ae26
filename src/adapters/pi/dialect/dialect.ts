import type { Dialect } from '../../../ports/agent-cli.ts'
import { piAnswerKeys } from './answer-keys.ts'
import { piHook } from './hook.ts'
import { piLine } from './line.ts'
import { piDecision, piGate, piInject } from './reply.ts'
import { piScreen } from './screen.ts'

/** How pi speaks, in its session files and through the extension that Muster gives it. */
export const piDialect: Dialect = {
  cli: 'pi',
  hook: piHook,
  line: piLine,
  screen: piScreen,
  keeps: [],
  decision: piDecision,
  answerKeys: piAnswerKeys,
  gate: piGate,
  inject: piInject,
  nothing: { body: '', exitCode: 0 },
  typing: () => ({
    submit: ['Enter'],
    interrupt: ['Escape'],
    clear: ['C-c'],
    settleMs: 300,
    marker: /\[paste #\d+ \+?\d+ (lines|chars)\]/,
    quit: ['C-d'],
  }),
  // `/` begins a command, `!` a shell command, `@` takes a file.
  harmless: (text) => (/^\s*[/!@]/.test(text) ? `Message: ${text.trimStart()}` : text),
}
