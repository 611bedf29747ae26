import type { Dialect } from '../../dialect.ts'

/** A program nothing is known of: it tells nothing, and its screen is text. */
export const customDialect: Dialect = {
  cli: 'custom',
  hook: () => [],
  line: () => [],
  screen: () => ({ composer: { state: 'none' }, isWorking: false }),
  keeps: [],
  decision: () => undefined,
  gate: (_payload, answer) =>
    answer.allowed ? { body: '', exitCode: 0 } : { body: answer.reason, exitCode: 2 },
  inject: () => undefined,
  nothing: { body: '', exitCode: 0 },
  typing: () => ({
    submit: ['Enter'],
    interrupt: ['C-c'],
    clear: ['C-u'],
    settleMs: 300,
    quit: ['C-d'],
  }),
  harmless: (text) => text,
}
