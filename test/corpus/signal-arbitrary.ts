import fc from 'fast-check'
import type { Signal } from '../../src/contract/signal.ts'
import { signalSources } from '../../src/contract/signal.ts'
import { screens } from './world.ts'

const id = fc.constantFrom('a', 'b', 'c')
const tool = fc.constantFrom('Bash', 'Read')
const text = fc.constantFrom('Done.', 'Not done.', 'Which one?', 'Now the tests.')
const readings = [
  screens.calm,
  screens.working,
  screens.blank,
  { ...screens.calm, error: 'API Error' },
  { ...screens.calm, limit: { text: 'limit' } },
  { ...screens.working, retry: { attempt: 2, of: 10 } },
  { ...screens.blank, dialog: { kind: 'permission', title: 'Proceed?', options: ['Yes'] } },
  { ...screens.blank, dialog: { kind: 'menu', title: 'Rewind', options: [] } },
] as const

const kinds = fc.oneof(
  fc.record({ kind: fc.constant('ready'), reason: fc.constantFrom('startup', 'resume', 'clear', 'compact') }),
  fc.record({ kind: fc.constant('prompt'), origin: fc.constantFrom('person', 'task') }),
  fc.record({ kind: fc.constant('prompt-queued') }),
  fc.record({ kind: fc.constant('tool-start'), callId: id, tool, input: fc.record({ command: id }) }),
  fc.record({ kind: fc.constant('tool-end'), callId: id, tool, ok: fc.boolean(), isInterrupt: fc.boolean() }),
  fc.record({ kind: fc.constant('text'), text }),
  fc.record({
    kind: fc.constant('usage'),
    responseId: id,
    model: fc.constant('m'),
    usage: fc.constant({}),
    finishReason: fc.constantFrom('end_turn', 'tool_use', 'stop_sequence'),
  }),
  fc.record({ kind: fc.constant('asking'), ask: fc.constantFrom('permission', 'question', 'plan') }),
  fc.record({ kind: fc.constant('asking'), ask: fc.constant('permission'), tool, callId: id }),
  fc.record({ kind: fc.constant('asking'), ask: fc.constant('permission'), isUnseen: fc.boolean() }),
  fc.record({ kind: fc.constant('answered'), ask: fc.constant('permission'), tool, callId: id }),
  fc.record({ kind: fc.constant('answered'), ask: fc.constantFrom('permission', 'question', 'plan') }),
  fc.record({ kind: fc.constant('turn-end'), text, background: fc.nat(2) }),
  fc.record({ kind: fc.constant('turn-failed'), error: fc.constant('API Error') }),
  fc.record({
    kind: fc.constant('turn-failed'),
    error: fc.constant('limit'),
    limit: fc.oneof(fc.constant({}), fc.record({ resetsAtMs: fc.nat(2_000_000) })),
  }),
  fc.record({ kind: fc.constantFrom('interrupted', 'idle') }),
  fc.record({ kind: fc.constant('retrying'), attempt: fc.nat(9) }),
  fc.record({ kind: fc.constant('subagent-start'), agentId: id, agentType: fc.constant('Explore') }),
  fc.record({ kind: fc.constant('subagent-end'), agentId: id }),
  fc.record({ kind: fc.constant('compacting'), trigger: fc.constantFrom('auto', 'manual') }),
  fc.record({ kind: fc.constant('compacted'), trigger: fc.constantFrom('auto', 'manual') }),
  fc.record({
    kind: fc.constant('meter'),
    limits: fc.array(fc.record({ name: id, usedPercent: fc.nat(100), resetsAtMs: fc.nat(2_000_000) })),
  }),
  fc.record({ kind: fc.constant('screen'), reading: fc.constantFrom(...readings) }),
  fc.record({ kind: fc.constant('gone'), reason: fc.constantFrom('clear', 'other', 'exit') }),
  fc.record({ kind: fc.constant('exited'), code: fc.constantFrom(0, 1) }),
  fc.record({ kind: fc.constant('exited') }),
)

/** Any signal at all within some minutes; times collide often, as they do in life. */
export const anySignal: fc.Arbitrary<Signal> = fc
  .tuple(
    kinds,
    fc.constantFrom(...signalSources),
    fc.oneof(
      fc.nat(20).map((n) => n * 500),
      fc.nat(400_000),
    ),
    fc.option(id, { nil: undefined, freq: 5 }),
  )
  .map(
    ([told, source, at, agent]) => ({ ...told, source, at, ...(agent !== undefined && { agent }) }) as Signal,
  )

export const anySignals: fc.Arbitrary<Signal[]> = fc.array(anySignal, { maxLength: 25 })
