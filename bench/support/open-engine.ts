import { Journal, type JournalOptions } from '../../src/adapters/jsonl/journal.ts'
import { systemClock } from '../../src/adapters/system/clock.ts'
import type { By } from '../../src/contract/event.ts'
import { createRedactor } from '../../src/core/redaction/redactor.ts'
import { Engine } from '../../src/engine/engine.ts'
import { ids } from './events.ts'

export const operator: By = { kind: 'operator', id: 'api', via: 'report' }

export const journalOptions = (dir: string): JournalOptions => ({
  dir,
  clock: systemClock,
  fsync: 'group',
  groupMs: 5,
  groupEvents: 1000,
  segmentBytes: 64 << 20,
  reserveBytes: 8 << 20,
})

/** Journal and engine with real redaction, as the daemon has them. */
export async function openBenchEngine(dir: string): Promise<{ journal: Journal; engine: Engine }> {
  const redactor = createRedactor({
    knownValues: ['a-known-secret-value-1', 'another-known-secret-2', 'third/known+secret=3'],
  })
  const journal = await Journal.open(journalOptions(dir))
  const engine = new Engine({
    journal,
    blobs: journal.blobs,
    clock: systemClock,
    ids,
    redact: (words) => redactor.event(words),
    endedSession: async () => undefined,
  })
  await journal.load(engine.replay)
  return { journal, engine }
}
