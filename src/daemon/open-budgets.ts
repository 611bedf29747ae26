import { systemClock } from '../adapters/system/clock.ts'
import { systemIds } from '../adapters/system/ids.ts'
import { Budgets } from '../engine/budgets.ts'
import type { Engine } from '../engine/engine.ts'
import type { JournalReader } from '../ports/journal.ts'
import type { IndexClient } from './index-client.ts'
import type { IndexThread } from './index-thread.ts'

/** So long what was used is waited for; an index that hangs must not hold up all work for ever. */
const countMs = 10_000

/** Budgets that count what the index has of all that is on disk. */
export const openBudgets = ({
  engine,
  journal,
  thread,
  index,
}: {
  readonly engine: Engine
  readonly journal: JournalReader
  readonly thread: IndexThread
  readonly index: IndexClient
}): Budgets =>
  new Budgets({
    engine,
    ids: systemIds(systemClock),
    async used(sessionId) {
      await thread.reached(journal.watermark(), AbortSignal.timeout(countMs))
      const [sum] = await index.ask('usage', { sessionId, isSubtree: true })
      return { tokens: sum?.tokens ?? 0, usd: sum?.costUsd ?? null }
    },
  })
