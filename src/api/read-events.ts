import { AppError } from '../contract/errors.ts'
import { type AgentEvent, type EventType, isFact, isObserved } from '../contract/event.ts'
import type { SessionId } from '../contract/ids.ts'
import { evolve, hasEnded, type SessionState } from '../core/session/state.ts'
import type { ReadFacts, ReadObserved } from '../ports/facts.ts'
import type { Index } from '../ports/index.ts'
import type { JournalReader } from '../ports/journal.ts'

type Filter = {
  readonly after?: number | undefined
  readonly before?: number | undefined
  readonly limit: number
  readonly type?: string | undefined
  readonly sessionId?: string | undefined
  readonly runId?: string | undefined
  readonly within?: string | undefined
}

/** A page of events, and which of its place were acknowledged and cannot be read any more. */
type ListedEvents = { events: AgentEvent[]; oldest: number; seq: number; unreadable?: Unreadable[] }

type Unreadable = { from: number; to: number }

/** A page of whole events, oldest first: straight from the journal, or through the index when it is filtered. */
export async function listEvents(
  { journal, index }: { journal: JournalReader; index: Index },
  filter: Filter,
): Promise<ListedEvents> {
  const oldest = journal.oldest()
  const seq = journal.watermark()
  const end = Math.min(filter.before ?? seq + 1, seq + 1)
  const { after, limit, sessionId, within } = filter
  if (!filter.type && !sessionId && !within) {
    const from = after ?? Math.max(oldest - 1, end - 1 - limit)
    const wanted = Math.min(limit, Math.max(0, end - 1 - from))
    const page = wanted > 0 ? await journal.page(from, wanted) : []
    const events = page.filter((stored) => stored.seq < end).map((stored) => stored.event)
    // A page may be short because its events are long; only where there is none is the rest known to be missing.
    const reached = page.length === 0 ? from + wanted : Math.min(page.at(-1)?.seq ?? 0, end - 1)
    const got = new Set(events.map((event) => event.seq))
    const missing = Array.from({ length: Math.max(0, reached - from) }, (_, i) => from + 1 + i)
    return { events, oldest, seq, ...unreadable(missing.filter((one) => !got.has(one))) }
  }
  const rows = await index.ask('events', {
    limit,
    ...(after !== undefined && { after }),
    ...(filter.before !== undefined && { before: filter.before }),
    ...(filter.type && { types: filter.type.split(',') }),
    ...(sessionId && { sessionId }),
    ...(filter.runId && { runId: filter.runId }),
    ...(within && { within }),
  })
  const seqs = rows.map((row) => row.seq).sort((a, b) => a - b)
  const events: AgentEvent[] = []
  const missing: number[] = []
  for await (const event of pickEvents(journal, seqs, (lost) => missing.push(lost))) events.push(event)
  return { events, oldest, seq, ...unreadable(missing) }
}

/** Seqs that are missing, ascending, as ranges. */
function unreadable(seqs: readonly number[]): { unreadable?: Unreadable[] } {
  const ranges: Unreadable[] = []
  for (const seq of seqs) {
    const last = ranges.at(-1)
    if (last?.to === seq - 1) last.to = seq
    else ranges.push({ from: seq, to: seq })
  }
  return ranges.length === 0 ? {} : { unreadable: ranges }
}

const feedPage = 1000
/** Lines between two wanted ones that are cheaper to read over than to seek past. */
const readOver = 200

/** Whoever folds or exports a session must not take less than all for all. */
function refuseLost(seq: number): never {
  throw new AppError(
    'failed',
    `event ${seq} of the journal cannot be read: it is damaged or lost; see which with: sm journal verify`,
  )
}

/** The events at the given seqs (ascending), read from the journal in as few pages as makes sense. */
async function* pickEvents(
  journal: JournalReader,
  seqs: readonly number[],
  onLost: (seq: number) => void = refuseLost,
): AsyncGenerator<AgentEvent> {
  let i = 0
  while (i < seqs.length) {
    let last = i
    while (last + 1 < seqs.length && (seqs[last + 1] as number) - (seqs[last] as number) <= readOver) last++
    let after = (seqs[i] as number) - 1
    const end = seqs[last] as number
    while (after < end) {
      const page = await journal.page(after, Math.min(1000, end - after))
      const reached = page.at(-1)?.seq ?? end
      const got = new Map(page.map((stored) => [stored.seq, stored]))
      for (; i <= last && (seqs[i] as number) <= reached; i++) {
        const stored = got.get(seqs[i] as number)
        if (stored) yield stored.event
        else onLost(seqs[i] as number)
      }
      after = reached
    }
    i = last + 1
  }
}

/** All events of a session, or those of some types, oldest first, as far as the index knows them. */
export async function* sessionEvents(
  deps: { journal: JournalReader; index: Index },
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

type Deps = { readonly journal: JournalReader; readonly index: Index }

const pageOf = 1000

/** Reads the facts of a session, up to what is written when it is asked. */
export const factsOfSession = (deps: Deps): ReadFacts => readOnly(deps, isFact)

/** Reads what is known of a session besides what callers told of it. */
export const observedOfSession = (deps: Deps): ReadObserved => readOnly(deps, isObserved)

const readOnly = <E extends AgentEvent>(deps: Deps, isWanted: (event: AgentEvent) => event is E) =>
  async function* (sessionId: SessionId, types: readonly EventType[]): AsyncIterable<E> {
    // Whoever read less than all would do again what was done.
    if (!(await deps.index.reached(deps.journal.watermark(), new AbortController().signal)))
      throw new AppError('unavailable', 'the daemon is stopping; try again')
    for (let after = 0; ; ) {
      const { events, unreadable: [lost] = [] } = await listEvents(deps, {
        sessionId,
        type: types.join(','),
        after,
        limit: pageOf,
      })
      if (lost) refuseLost(lost.from)
      yield* events.filter(isWanted)
      if (events.length < pageOf) return
      after = events.at(-1)?.seq ?? after
    }
  }

// A machine that is busy with starting agents is slow, not broken: waiting beats a refusal that has to be repeated.
const indexWaitMs = 10_000

/** What a session that is no longer in memory is made of; the rest of its events changes nothing here. */
const telling: EventType[] = [
  'session.started',
  'session.launched',
  'session.updated',
  'session.completed',
  'session.failed',
  'session.reopened',
]

/** A session that ended and left memory, folded again from its events; the index is given a moment to catch up. */
export async function endedSession(
  sessionId: SessionId,
  { journal, index }: { journal: JournalReader; index: Index },
): Promise<SessionState | undefined> {
  if (!(await index.reached(journal.watermark(), AbortSignal.timeout(indexWaitMs))))
    throw new AppError(
      'unavailable',
      'the index is still catching up and cannot tell whether the session ended; try again',
    )
  let state: SessionState | undefined
  for await (const event of sessionEvents({ journal, index }, sessionId, telling))
    state = evolve(state, event, event)
  if (!state || !hasEnded(state)) return undefined
  const milestones = await lastMilestone(sessionId, { journal, index })
  return { ...state, open: new Map(), queue: [], asks: [], ...(milestones > 0 && { milestones }) }
}

/** The number of its last milestone; where that was written before they had numbers, how many there are. */
async function lastMilestone(
  sessionId: SessionId,
  { journal, index }: { journal: JournalReader; index: Index },
): Promise<number> {
  const types: EventType[] = ['progress.checkpoint']
  const [last] = await index.ask('events', { sessionId, types, limit: 1 })
  if (!last) return 0
  for await (const event of pickEvents(journal, [last.seq]))
    if (event.type === 'progress.checkpoint' && event.payload.number !== undefined)
      return event.payload.number
  let count = 0
  for (let after = 0; ; ) {
    const rows = await index.ask('events', { sessionId, types, after, limit: feedPage })
    count += rows.length
    if (rows.length < feedPage) return count
    after = rows.at(-1)?.seq ?? after
  }
}
