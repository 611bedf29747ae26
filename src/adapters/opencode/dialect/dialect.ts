import type { Dialect } from '../../../ports/agent-cli.ts'
import { openCodeHook } from './hook.ts'
import { openCodeDecision, openCodeGate, openCodeInject } from './reply.ts'
import { openCodeScreen } from './screen.ts'

/** How OpenCode speaks, through the plugin that Muster gives it. It writes no transcript. */
export const opencodeDialect: Dialect = {
  cli: 'opencode',
  hook: openCodeHook,
  line: () => [],
  screen: openCodeScreen,
  keeps: [],
  decision: openCodeDecision,
  gate: openCodeGate,
  inject: openCodeInject,
  nothing: { body: '', exitCode: 0 },
  typing: () => ({
    submit: ['Enter'],
    // The first asks whether it is meant.
    interrupt: ['Escape', 'Escape'],
    clear: ['C-c'],
    settleMs: 300,
    marker: /\[Pasted ~?\d+ lines\]/,
    quit: ['C-c', 'C-c'],
  }),
  // `/` begins a command, `!` a shell command, `@` takes a file or an agent.
  harmless: (text) => (/^\s*[/!@]/.test(text) ? `Message: ${text.trimStart()}` : text),
}
