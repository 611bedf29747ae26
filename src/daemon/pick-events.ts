import type { AgentEvent, EventType } from '../contract/event.ts'
import type { JournalReader } from '../ports/journal.ts'
import type { IndexClient } from './index-client.ts'

const feedPage = 1000
/** Lines between two wanted ones that are cheaper to read over than to seek past. */
const readOver = 200

/** The events at the given seqs (ascending), read from the journal in as few pages as makes sense. */
export async function* pickEvents(
  journal: JournalReader,
  seqs: readonly number[],
): AsyncGenerator<AgentEvent> {
  const wanted = new Set(seqs)
  let i = 0
  while (i < seqs.length) {
    let last = i
    while (last + 1 < seqs.length && (seqs[last + 1] as number) - (seqs[last] as number) <= readOver) last++
    let after = (seqs[i] as number) - 1
    const end = seqs[last] as number
    while (after < end) {
      const page = await journal.page(after, Math.min(1000, end - after))
      if (page.length === 0) break
      for (const stored of page) if (wanted.has(stored.seq)) yield stored.event
      after = page.at(-1)?.seq ?? end
    }
    i = last + 1
  }
}

/** All events of a session, or those of some types, oldest first, as far as the index knows them. */
export async function* sessionEvents(
  deps: { journal: JournalReader; index: IndexClient },
  sessionId: string,
  types?: readonly EventType[],
): AsyncGenerator<AgentEvent> {
  for (let after = 0; ; ) {
    const rows = await deps.index.ask('events', {
      sessionId,
      after,
      limit: feedPage,
      ...(types && { types }),
    })
    if (rows.length === 0) return
    const seqs = rows.map((row) => row.seq)
    yield* pickEvents(deps.journal, seqs)
    after = seqs.at(-1) ?? after
  }
}
