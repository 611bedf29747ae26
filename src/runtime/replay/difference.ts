import type { ModelMessage } from '../../ports/model.ts'
import type { Compacted } from '../compact.ts'
import type { Served } from './recorded.ts'

/** Where a replay does not come to the same; it never says what the texts are. */
export type Difference = {
  /** Which turn of the model; 0 is before the first. */
  readonly step: number
  readonly what: 'agent' | 'conversation' | 'answer' | 'gate' | 'end'
  readonly detail: string
}

/** What the loop keeps, against what the record has in its place. */
export function differenceOf(served: Served, value: unknown): Difference | undefined {
  const step = served.turns
  if (!served.record.isExact) return undefined
  if (Array.isArray(value)) {
    const act = served.record.acts.filter(({ kind }) => kind === 'turn')[step - 1]
    if (act?.kind !== 'turn') return { step, what: 'conversation', detail: 'the record has no such turn' }
    return unlike(act.gained, (value as ModelMessage[]).slice(0, -1), step)
  }
  if (typeof value !== 'object' || value === null || !('messages' in value)) return undefined
  const { messages } = value as Compacted
  const summaries = served.record.acts.flatMap((act) => (act.kind === 'summary' ? [act.compacted] : []))
  const isThere = summaries.some((one) => same(one.messages, messages))
  return isThere ? undefined : { step, what: 'conversation', detail: 'it was made shorter in another way' }
}

function unlike(
  recorded: readonly ModelMessage[],
  replayed: readonly ModelMessage[],
  step: number,
): Difference | undefined {
  for (let i = 0; i < Math.max(recorded.length, replayed.length); i++) {
    const [one, other] = [recorded[i], replayed[i]]
    if (same(one, other)) continue
    if (one?.role === 'tool' && other?.role === 'tool') {
      const at =
        one.answers.find((answer, n) => !same(answer, other.answers[n])) ?? other.answers[one.answers.length]
      return { step, what: 'answer', detail: `the answer of ${at?.tool} (${at?.callId}) is another` }
    }
    const named = (message: ModelMessage | undefined) => (message ? `a ${message.role} message` : 'nothing')
    const detail = `message ${i + 1} of the step: the record has ${named(one)}, the replay ${named(other)}${one?.role === other?.role ? ' of other words' : ''}`
    return { step, what: 'conversation', detail }
  }
  return undefined
}

/** A record that was written and read again has no fields without a value, and no order is promised. */
const same = (one: unknown, other: unknown): boolean => stable(one) === stable(other)

export function stable(value: unknown): string {
  return (
    JSON.stringify(value, (_key, inner: unknown) =>
      typeof inner === 'object' && inner !== null && !Array.isArray(inner)
        ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
        : inner,
    ) ?? 'nothing'
  )
}
