import type { AgentEvent } from '../contract/event.ts'
import type { JournalReader } from '../ports/journal.ts'
import type { IndexClient } from './index-client.ts'
import { pickEvents } from './pick-events.ts'

type Filter = {
  readonly after?: number | undefined
  readonly before?: number | undefined
  readonly limit: number
  readonly type?: string | undefined
  readonly sessionId?: string | undefined
  readonly runId?: string | undefined
}

/** A page of whole events, oldest first: straight from the journal, or through the index when it is filtered. */
export async function listEvents(
  { journal, index }: { journal: JournalReader; index: IndexClient },
  filter: Filter,
): Promise<{ events: AgentEvent[]; oldest: number; seq: number }> {
  const oldest = journal.oldest()
  const seq = journal.watermark()
  const end = Math.min(filter.before ?? seq + 1, seq + 1)
  const { after, limit, sessionId } = filter
  if (!filter.type && !sessionId) {
    const from = after ?? Math.max(oldest - 1, end - 1 - limit)
    const page = await journal.page(from, Math.min(limit, Math.max(0, end - 1 - from)))
    return { events: page.map((stored) => stored.event), oldest, seq }
  }
  const rows = await index.ask('events', {
    limit,
    ...(after !== undefined && { after }),
    ...(filter.before !== undefined && { before: filter.before }),
    ...(filter.type && { types: filter.type.split(',') }),
    ...(sessionId && { sessionId }),
    ...(filter.runId && { runId: filter.runId }),
  })
  const seqs = rows.map((row) => row.seq).sort((a, b) => a - b)
  const events: AgentEvent[] = []
  for await (const event of pickEvents(journal, seqs)) events.push(event)
  return { events, oldest, seq }
}
