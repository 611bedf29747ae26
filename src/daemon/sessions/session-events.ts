import { shortId } from '../../contract/ids.ts'
import type { SessionRow } from '../../contract/index-rows.ts'
import type { SessionEventView } from '../../contract/session-views.ts'
import { eventLine, sessionEventTypes } from '../../core/session/event-line.ts'
import type { Directory } from './directory.ts'

type Filter = {
  readonly type?: string | undefined
  readonly limit: number
  readonly after?: number | undefined
  readonly since?: string | undefined
}

/** What happened in a session and to its children, oldest first. */
export async function sessionEventsOf(
  directory: Directory,
  row: SessionRow,
  filter: Filter,
): Promise<{ events: SessionEventView[]; seq: number }> {
  await directory.caughtUp()
  const children = await directory.below(row, false)
  const own = new Map([row, ...children].map((one) => [one.sessionId as string, one]))
  const words = filter.type?.split(',')
  const found: SessionEventView[] = []
  let seq = filter.after ?? 0
  for (const sessionId of own.keys()) {
    const { events, seq: reached } = await directory.events({
      sessionId,
      type: sessionEventTypes.join(','),
      limit: filter.limit,
      ...(filter.after !== undefined && { after: filter.after }),
    })
    seq = Math.max(seq, reached)
    for (const event of events) {
      const told = eventLine(event, own.get(event.sessionId), event.sessionId !== row.sessionId)
      if (!told || (words && !words.includes(told.event_type))) continue
      if (filter.since !== undefined && event.timestamp < filter.since) continue
      found.push({
        ...told,
        session_id: shortId(event.sessionId),
        timestamp: event.timestamp,
        seq: event.seq,
      })
    }
  }
  found.sort((a, b) => a.seq - b.seq)
  return {
    events: filter.after === undefined ? found.slice(-filter.limit) : found.slice(0, filter.limit),
    seq,
  }
}
