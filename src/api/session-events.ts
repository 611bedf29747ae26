import { type AgentEvent, catalogue, eventTypes } from '../contract/event.ts'
import { type RunId, type SessionId, shortId } from '../contract/ids.ts'
import type { SessionRow } from '../contract/index-rows.ts'
import type { SessionEventView } from '../contract/session-views.ts'
import { agentName } from '../core/session/agent-view.ts'
import { eventLine } from '../core/session/event-line.ts'
import type { Directory, Node } from './directory.ts'

type Filter = {
  readonly type?: string | undefined
  readonly limit: number
  readonly after?: number | undefined
  readonly since?: string | undefined
}

/** Lines of `sm events`, oldest first; `seq` is how far all of the sessions were looked at. */
type Told = { events: SessionEventView[]; seq: number }

const pageEvents = 200
const toldTypes = eventTypes.filter((type) => catalogue[type].sm).join(',')

/** What happened in a session and to its children, or to one agent inside of it. */
export async function sessionEventsOf(
  directory: Directory,
  { row, run }: Node,
  filter: Filter,
): Promise<Told> {
  // Taken once and first: what comes in between belongs to the next look, for all of them alike.
  const seq = directory.watermark()
  await directory.caughtUp()
  const agents = new AgentNames(directory)
  const found: SessionEventView[] = []
  const look = async (of: Looking['of'], tell: Looking['tell']): Promise<void> => {
    found.push(...(await some(directory, { of, filter, seq, tell })))
  }
  if (run) {
    const below = await directory.ask('runs', { parentRunId: run.runId, isAgent: true })
    for (const { sessionId, runId } of [run, ...below])
      await look({ sessionId, runId }, async (event) => {
        const among = runId === run.runId ? 'self' : 'own'
        return eventLine(event, { row, among, agent: await agents.of(event, { parentRunId: null }) })
      })
    return { events: pageOf(found, filter), seq }
  }
  const own = new Map(
    [row, ...(await directory.below(row, false))].map((one) => [one.sessionId as string, one]),
  )
  for (const [sessionId, its] of own) {
    const among = sessionId === row.sessionId ? 'own' : 'children'
    await look({ sessionId }, async (event) =>
      eventLine(event, { row: its, among, agent: await agents.of(event, its) }),
    )
  }
  return { events: pageOf(found, filter), seq }
}

/** What happened in all sessions, or in one and all below it. */
export async function fleetEventsOf(
  directory: Directory,
  of: { readonly within?: SessionId },
  filter: Filter,
): Promise<Told> {
  const seq = directory.watermark()
  await directory.caughtUp()
  const agents = new AgentNames(directory)
  const rows = new Map<SessionId, SessionRow | undefined>()
  const rowOf = async (id: SessionId): Promise<SessionRow | undefined> => {
    if (!rows.has(id)) rows.set(id, (await directory.ask('findSessions', id, 1))[0])
    return rows.get(id)
  }
  const tell = async (event: AgentEvent) => {
    const row = await rowOf(event.sessionId)
    return eventLine(event, { row, among: 'fleet', agent: row && (await agents.of(event, row)) })
  }
  return { events: pageOf(await some(directory, { of, filter, seq, tell }), filter), seq }
}

/** What agents inside of sessions are called, each looked up once. */
class AgentNames {
  readonly #directory: Directory
  readonly #names = new Map<RunId, string>()

  constructor(directory: Directory) {
    this.#directory = directory
  }

  /** The agent that an event is about; nothing for one of the session itself, as its turns are. */
  async of(
    { sessionId, runId, parentRunId }: AgentEvent,
    row: Pick<SessionRow, 'parentRunId'>,
  ): Promise<string | undefined> {
    if (parentRunId === undefined || parentRunId === row.parentRunId) return undefined
    const known = this.#names.get(runId)
    if (known !== undefined) return known
    const [run] = await this.#directory.ask('runs', { runId, limit: 1 })
    const [session] = await this.#directory.ask('findSessions', sessionId, 1)
    const name = run && session ? agentName(run, session) : shortId(runId)
    this.#names.set(runId, name)
    return name
  }
}

type Looking = {
  readonly of: { readonly sessionId?: string; readonly runId?: string; readonly within?: SessionId }
  readonly filter: Filter
  readonly seq: number
  readonly tell: (event: AgentEvent) => Promise<ReturnType<typeof eventLine>>
}

/** Page by page until there are as many as were asked for, since a page may hold none that is shown. */
async function some(
  directory: Directory,
  { of, filter, seq, tell }: Looking,
): Promise<readonly SessionEventView[]> {
  const found: SessionEventView[][] = []
  const isForward = filter.after !== undefined
  const words = filter.type?.split(',')
  let at = filter.after
  let count = 0
  for (;;) {
    const { events } = await directory.events({
      ...of,
      type: toldTypes,
      limit: pageEvents,
      ...(at !== undefined && (isForward ? { after: at } : { before: at })),
    })
    const page: SessionEventView[] = []
    for (const event of events) {
      const isOut = event.seq > seq || (filter.since !== undefined && event.timestamp < filter.since)
      const told = isOut ? undefined : await tell(event)
      if (!told || (words && !words.includes(told.event_type))) continue
      page.push({ ...told, timestamp: event.timestamp, seq: event.seq })
    }
    found.push(page)
    count += page.length
    const edge = isForward ? events.at(-1) : events[0]
    if (events.length < pageEvents || count >= filter.limit || !edge) return found.flat()
    at = edge.seq
  }
}

/** As many as were asked for: the next ones after a seq, else the latest. */
function pageOf(found: readonly SessionEventView[], { after, limit }: Filter): SessionEventView[] {
  const ordered = found.toSorted((a, b) => a.seq - b.seq)
  return after === undefined ? ordered.slice(-limit) : ordered.slice(0, limit)
}
