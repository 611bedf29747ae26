import type { Client } from '../../client/client.ts'
import { AppError } from '../../contract/errors.ts'
import type { EventType } from '../../contract/event.ts'
import { linked } from '../../contract/linked.ts'
import type { ApprovalView, SessionView } from '../../contract/session-views.ts'
import { listSessions } from '../list-sessions.ts'
import { stateEvents } from '../news.ts'
import { isEnded } from '../render/session-lines.ts'

/** What a load gives. */
export type Loaded = {
  readonly sessions: readonly SessionView[]
  /** How many ended sessions there are besides those that still run. */
  readonly hidden: number
  readonly approvals: readonly ApprovalView[]
}

/** Where the news goes, and what time is. */
type FeedOptions = {
  readonly client: Client
  readonly signal: AbortSignal
  readonly now: () => number
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  readonly loaded: (loaded: Loaded) => void
  readonly offline: (error: AppError) => void
}

const dayMs = 24 * 60 * 60 * 1000
const mostEnded = 200
const answerMs = 5000
/** Where sessions come from that were begun by Muster; a crew that failed is looked for like any other. */
const begunHere: ReadonlySet<string> = new Set(['managed', 'runtime', 'workflow'])
const firstRetryMs = 200
const longestRetryMs = 2000

/** Keeps a list of sessions true: one load, then another whenever events say that something changed. */
export class Feed {
  readonly #options: FeedOptions
  readonly #pace: Pace
  /** Sessions that are over: the list of open ones has them no more, and somebody may not have seen it. */
  readonly #ended = new Map<string, SessionView>()
  #open: readonly SessionView[] = []
  /** Ended sessions that an event was about. */
  readonly #touched = new Set<string>()
  #isFirst = true

  constructor(options: FeedOptions) {
    this.#options = options
    this.#pace = new Pace(options)
  }

  /** Loads soon, whatever the events say. */
  refresh(): void {
    this.#pace.ring('soon')
  }

  /** Follows the daemon through its restarts, until the signal ends it. */
  async run(): Promise<void> {
    const { signal, sleep, offline } = this.#options
    let failures = 0
    while (!signal.aborted) {
      try {
        await this.#follow(() => {
          failures = 0
        })
      } catch (error) {
        if (signal.aborted) return
        if (!(error instanceof AppError)) throw error
        // One lost connection is nothing to tell; a second in a row is.
        if (failures++ > 0) offline(error)
      }
      await sleep(Math.min(firstRetryMs * 2 ** failures, longestRetryMs), signal).catch(() => {})
    }
  }

  /** One connection: ends by throwing when it is lost. */
  async #follow(onLoaded: () => void): Promise<void> {
    const { client, signal } = this.#options
    // The stream goes on from before the load, so that no change falls between the two.
    const { seq } = await client.health({}, { signal, timeoutMs: answerMs })
    using stop = linked(signal)
    this.#pace.reset()
    const reading = this.#read(seq, stop.signal)
    const loading = this.#keepLoading(stop.signal, onLoaded)
    try {
      await Promise.race([reading, loading])
    } finally {
      stop.abort()
      await Promise.allSettled([reading, loading])
    }
  }

  async #read(seq: number, signal: AbortSignal): Promise<void> {
    const filter = { after: String(seq), type: watchedTypes.join(',') }
    for await (const { event, data } of this.#options.client.streamEvents(filter, {
      signal,
      maxFailures: 1,
    })) {
      const { type = event, sessionId = '' } = data as { type?: string; sessionId?: string }
      if (this.#ended.has(sessionId)) this.#touched.add(sessionId)
      this.#pace.ring(urgencyOf(type))
    }
  }

  async #keepLoading(signal: AbortSignal, onLoaded: () => void): Promise<void> {
    while (!signal.aborted) {
      await this.#load(signal)
      onLoaded()
      await this.#pace.next(signal)
    }
  }

  async #load(signal: AbortSignal): Promise<void> {
    const { client, loaded } = this.#options
    const began = this.#options.now()
    const { sessions: open, hidden } = await listSessions(client, { open: true, agents: true }, signal)
    const asks = open.some(({ pending_approvals }) => pending_approvals > 0)
    const [{ approvals }] = await Promise.all([
      asks ? client.listApprovals({ limit: 1000 }, { signal }) : { approvals: [] },
      this.#isFirst ? this.#recent(signal) : this.#departed(open, signal),
    ])
    this.#isFirst = false
    for (const { id } of open) this.#ended.delete(id)
    this.#open = open
    this.#pace.took(this.#options.now() - began)
    loaded({ sessions: [...open, ...this.#ended.values()], hidden, approvals })
  }

  /** At the start: what ended lately, or ended and still runs. */
  async #recent(signal: AbortSignal): Promise<void> {
    const { client, now } = this.#options
    const { sessions } = await client.listSessions({ open: false, limit: mostEnded }, { signal })
    for (const session of sessions) {
      const isOurs = begunHere.has(session.origin ?? '')
      const isLate = now() - Date.parse(session.completed_at ?? session.last_activity_at) < dayMs
      if (session.is_alive || (isOurs && isLate)) this.#ended.set(session.id, session)
    }
  }

  /** Those that were open before and are not now, and ended ones that something happened to. */
  async #departed(open: readonly SessionView[], signal: AbortSignal): Promise<void> {
    const present = new Set(open.map(({ id }) => id))
    // An agent that is over is counted at its session.
    const sessions = this.#open.filter(({ origin }) => origin !== 'agent')
    const gone = new Set(sessions.map(({ id }) => id).filter((id) => !present.has(id)))
    const ids = [...new Set([...gone, ...this.#touched])].slice(-mostEnded)
    this.#touched.clear()
    const { client } = this.#options
    const found = await Promise.allSettled(ids.map((id) => client.getSession({ id }, { signal })))
    for (const one of found)
      if (one.status === 'fulfilled' && isEnded(one.value)) this.#ended.set(one.value.id, one.value)
    for (const id of [...this.#ended.keys()].slice(0, -mostEnded)) this.#ended.delete(id)
  }
}

/** How soon a change is worth a load: at once, or with the next handful of its kind. */
type Urgency = 'soon' | 'later'

const delays: Readonly<Record<Urgency, number>> = { soon: 50, later: 1000 }
/** Never more often than ten times a second. */
const leastGapMs = 100
// Some of what is shown settles a moment after the event that tells of it.
const echoMs = 600
// States also age without any event.
const restMs = 30_000

type Time = {
  readonly now: () => number
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
}

/** Decides when to load again: soon after news, never in a storm, rarely without any. */
class Pace {
  readonly #time: Time
  #dueAt = Number.POSITIVE_INFINITY
  #earliestAt = 0
  #isNews = false
  #changed = Promise.withResolvers<void>()

  constructor(time: Time) {
    this.#time = time
  }

  ring(urgency: Urgency): void {
    this.#isNews = true
    this.#due(this.#time.now() + delays[urgency])
  }

  /** A load that took so long leaves the daemon and this program alone for a multiple of it. */
  took(ms: number): void {
    this.#earliestAt = this.#time.now() + Math.max(leastGapMs, 4 * ms)
  }

  reset(): void {
    this.#dueAt = Number.POSITIVE_INFINITY
    this.#isNews = false
  }

  /** Resolves when it is time to load. */
  async next(signal: AbortSignal): Promise<void> {
    const { now, sleep } = this.#time
    const restAt = now() + restMs
    while (!signal.aborted) {
      const waitMs = Math.max(Math.min(this.#dueAt, restAt), this.#earliestAt) - now()
      if (waitMs <= 0) break
      this.#changed = Promise.withResolvers()
      using enough = linked(signal)
      const late = sleep(waitMs, enough.signal).catch((error: unknown) => {
        if (!enough.signal.aborted) throw error
      })
      await Promise.race([this.#changed.promise, late])
    }
    const wasNews = this.#isNews
    this.reset()
    if (wasNews) this.#dueAt = now() + echoMs
  }

  #due(at: number): void {
    if (at >= this.#dueAt) return
    this.#dueAt = at
    this.#changed.resolve()
  }
}

/** What else changes a row: its words and figures. */
const wordEvents = [
  'session.updated',
  'signal.changed',
  'progress.checkpoint',
  'agent.spawned',
  'agent.status.changed',
  'message.queued',
  'message.delivered',
  'message.accepted',
  'message.failed',
  'budget.warning',
  'budget.exceeded',
] as const satisfies readonly EventType[]

/** What comes many times a minute and moves only figures. */
const figureEvents = [
  'tool.call.started',
  'tool.call.completed',
  'tool.call.failed',
  'llm.request.completed',
  'llm.usage.corrected',
] as const satisfies readonly EventType[]

/** The events after which a row may look different. */
const watchedTypes: readonly string[] = [...stateEvents, ...wordEvents, ...figureEvents]

const slow: ReadonlySet<string> = new Set(figureEvents)

const urgencyOf = (type: string): Urgency => (slow.has(type) ? 'later' : 'soon')
