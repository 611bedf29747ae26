import { type AgentEvent, catalogue, eventTypes } from '../contract/event.ts'
import { shortId } from '../contract/ids.ts'
import type { SessionRow } from '../contract/index-rows.ts'
import type { SessionEventView } from '../contract/session-views.ts'
import { eventLine } from '../core/session/event-line.ts'
import type { Directory } from './directory.ts'

type Filter = {
  readonly type?: string | undefined
  readonly limit: number
  readonly after?: number | undefined
  readonly since?: string | undefined
}

const pageEvents = 200
const toldTypes = eventTypes.filter((type) => catalogue[type].sm).join(',')

/** What happened in a session and to its children, oldest first; `seq` is how far all of them were looked at. */
export async function sessionEventsOf(
  directory: Directory,
  row: SessionRow,
  filter: Filter,
): Promise<{ events: SessionEventView[]; seq: number }> {
  // Taken once and first: what comes in between belongs to the next look, for all of them alike.
  const seq = directory.watermark()
  await directory.caughtUp()
  const own = new Map(
    [row, ...(await directory.below(row, false))].map((one) => [one.sessionId as string, one]),
  )
  const words = filter.type?.split(',')
  const tell = (event: AgentEvent): SessionEventView | undefined => {
    const told = eventLine(event, own.get(event.sessionId), event.sessionId !== row.sessionId)
    if (!told || event.seq > seq || (words && !words.includes(told.event_type))) return undefined
    if (filter.since !== undefined && event.timestamp < filter.since) return undefined
    return { ...told, session_id: shortId(event.sessionId), timestamp: event.timestamp, seq: event.seq }
  }
  const found: SessionEventView[] = []
  for (const sessionId of own.keys()) found.push(...(await some(directory, { sessionId, filter, tell })))
  found.sort((a, b) => a.seq - b.seq)
  return {
    events: filter.after === undefined ? found.slice(-filter.limit) : found.slice(0, filter.limit),
    seq,
  }
}

type Looking = {
  readonly sessionId: string
  readonly filter: Filter
  readonly tell: (event: AgentEvent) => SessionEventView | undefined
}

/** Page by page until there are as many as were asked for, since a page may hold none that is shown. */
async function some(directory: Directory, { sessionId, filter, tell }: Looking): Promise<SessionEventView[]> {
  const found: SessionEventView[] = []
  const isForward = filter.after !== undefined
  let at = filter.after
  for (;;) {
    const { events } = await directory.events({
      sessionId,
      type: toldTypes,
      limit: pageEvents,
      ...(at !== undefined && (isForward ? { after: at } : { before: at })),
    })
    const told = events.map(tell).filter((one) => one !== undefined)
    if (isForward) found.push(...told)
    else found.unshift(...told)
    const edge = isForward ? events.at(-1) : events[0]
    if (events.length < pageEvents || found.length >= filter.limit || !edge) return found
    at = edge.seq
  }
}
