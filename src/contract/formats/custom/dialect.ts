import type { Dialect } from '../../dialect.ts'

const nothing = { body: '', exitCode: 0 }

/** A program of the user's own: it has no hooks and no transcript, and nothing is known of its screen. */
export const customDialect: Dialect = {
  cli: 'custom',
  hook: () => [],
  line: () => [],
  screen: () => ({ composer: { state: 'none' }, isWorking: false }),
  decision: () => undefined,
  gate: (_payload, answer) => (answer.allowed ? nothing : { body: answer.reason, exitCode: 2 }),
  inject: () => undefined,
  nothing,
  typing: () => ({ submit: ['Enter'], interrupt: ['C-c'], clear: ['C-u'], settleMs: 100, quit: ['C-d'] }),
  harmless: (text) =>
    text
      .replaceAll(/\r\n?/g, '\n')
      .replaceAll(/[\0-\x08\x0b-\x1f\x7f]/g, '')
      .trimEnd(),
}
