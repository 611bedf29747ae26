import type { Draft } from '../contract/event.ts'
import { fleet } from '../contract/ids.ts'
import type { Engine } from '../engine/engine.ts'
import type { Parked } from '../engine/react.ts'
import type { JournalReader } from '../ports/journal.ts'

const fact = (draft: Pick<Draft, 'type' | 'payload'>): Draft =>
  ({ ...fleet, actor: 'daemon', ...draft }) as Draft

/** Writes down what redaction has taken out since the last time, when there was anything. */
export function redactionBook(engine: Engine): () => Promise<void> {
  let written: Readonly<Record<string, number>> = {}
  return async () => {
    const now = { ...engine.redactionCounts() }
    const counts = Object.fromEntries(
      Object.entries(now).flatMap(([rule, n]) =>
        n > (written[rule] ?? 0) ? [[rule, n - (written[rule] ?? 0)]] : [],
      ),
    )
    written = now
    if (Object.keys(counts).length === 0) return
    await engine.record([fact({ type: 'redaction.applied', payload: { counts } })])
  }
}

/** Writes down that a follower set an event aside; never for such a note itself, which could go on for ever. */
export async function noteParked(
  { engine, journal }: { engine: Engine; journal: JournalReader },
  follower: string,
  { seq, error }: Parked,
): Promise<void> {
  const [stored] = await journal.page(seq - 1, 1)
  if (!stored || stored.event.type === 'event.parked') return
  await engine.record([
    fact({ type: 'event.parked', payload: { follower, seq, error: error.slice(0, 1000) } }),
  ])
}
