import { AppError } from '../contract/errors.ts'
import { type AgentEvent, catalogue } from '../contract/event.ts'
import { type SessionId, shortId } from '../contract/ids.ts'
import type { Principal } from '../contract/principal.ts'
import type { SseRouteName } from '../contract/routes.ts'
import type { Clock } from '../ports/clock.ts'
import type { JournalReader } from '../ports/journal.ts'
import { type Asked, startOf } from './cursor.ts'
import {
  type ContextOf,
  canonicalProjection,
  onlySeen,
  type Projection,
  RuntimeFrames,
  runtimeProjection,
} from './frames.ts'
import type { LiveDelta, LiveHub, TokenQueue } from './live.ts'
import type { OnBug } from './problem.ts'
import { Shares, shareOfSessions, type TopOf } from './shares.ts'
import { type OpenStream, openStream } from './sse.ts'

/** The bounds of streams, from the configuration. */
export type StreamLimits = {
  readonly heartbeatMs: number
  readonly stallMs: number
  readonly maxClients: number
}

/** What streams are made of. */
export type StreamDeps = {
  readonly journal: JournalReader
  readonly live: LiveHub
  readonly clock: Clock
  readonly limits: StreamLimits
  readonly contextOf?: ContextOf
  /** Whether a caller may see what a session does; at once while that session is in memory. */
  readonly sees: (principal: Principal, sessionId: SessionId) => boolean | Promise<boolean>
  readonly topOf: TopOf
  readonly onBug: OnBug
}

/** One client's wish. */
export type StreamRequest = {
  readonly input: Readonly<Record<string, unknown>>
  readonly principal: Principal
  readonly lastEventId: string | undefined
  readonly signal: AbortSignal
  /** Cuts the connection of a client that does not read. */
  readonly cut: () => void
}

/** The streams that are open now. */
export class Streams {
  readonly #deps: StreamDeps
  readonly #open = new Set<OpenStream>()
  /** Those of them that are a session's. */
  readonly #sessions: Shares<OpenStream>
  readonly #runtimeFrames: RuntimeFrames

  constructor(deps: StreamDeps) {
    this.#deps = deps
    this.#sessions = new Shares(deps.topOf)
    this.#runtimeFrames = new RuntimeFrames(deps.contextOf)
  }

  get count(): number {
    return this.#open.size
  }

  /** Refuses a wish that `open` would refuse, without opening anything. */
  check({ input, lastEventId }: Pick<StreamRequest, 'input' | 'lastEventId'>): void {
    startOf(askedBy(input, lastEventId), this.#deps.journal)
  }

  /** Opens a stream, or refuses. */
  open(name: SseRouteName, request: StreamRequest): ReadableStream<Uint8Array> {
    const { input, lastEventId, signal, cut } = request
    const { journal, clock, limits, onBug } = this.#deps
    const start = startOf(askedBy(input, lastEventId), journal)
    const stream: OpenStream = openStream({
      journal,
      clock,
      start,
      ...this.#shows(name, request),
      heartbeatMs: limits.heartbeatMs,
      stallMs: limits.stallMs,
      onEnd: (why) => {
        this.#open.delete(stream)
        this.#sessions.delete(stream)
        signal.removeEventListener('abort', stream.end)
        if (why === 'stalled') cut()
      },
      onBug: (error) => onBug(error, name),
    })
    this.#admit(stream, request.principal)
    // A client that leaves before its first read is never cancelled by the listener.
    signal.addEventListener('abort', stream.end, { once: true })
    if (signal.aborted) stream.end()
    return stream.body
  }

  /** Ends those of a session whose token is no longer known. */
  endOf(sessionId: SessionId): void {
    for (const stream of this.#sessions.of(sessionId)) stream.end()
  }

  endAll(): void {
    for (const stream of this.#open) stream.end()
  }

  /** Takes a new one in. Where there are too many, one of the sessions that hold most leaves for others and for a person. */
  #admit(stream: OpenStream, principal: Principal): void {
    const { maxClients } = this.#deps.limits
    this.#open.add(stream)
    if (principal.kind === 'session') {
      const { sessionId } = principal
      const share = shareOfSessions(maxClients)
      const own = Math.max(1, Math.floor(maxClients / 8))
      this.#sessions.add(stream, sessionId)
      if (this.#sessions.of(sessionId).length > own)
        this.#leave(stream, stream, `${own} streams of this session`)
      else if (this.#sessions.size > share || this.#open.size > maxClients)
        this.#leave(stream, this.#sessions.next(), `${share} streams of sessions`)
    } else if (this.#open.size > maxClients)
      this.#leave(stream, this.#sessions.next() ?? stream, `${maxClients} streams`)
  }

  /** Ends one that is too many; the new one is refused with what is full. */
  #leave(newest: OpenStream, leaving: OpenStream | undefined, full: string): void {
    leaving?.end()
    if (leaving === newest)
      throw new AppError('limited', `${full} are already open; close one, or try again later`)
  }

  #shows(
    name: SseRouteName,
    { input, principal }: StreamRequest,
  ): { projection: Projection; tokens?: TokenQueue } {
    const isAll = principal.kind === 'operator'
    const isSeen = (id: SessionId) => isAll || this.#deps.sees(principal, id)
    const seen = (projection: Projection) => (isAll ? projection : onlySeen(projection, isSeen))
    if (name === 'streamEvents') return { projection: seen(canonicalProjection(canonicalFilter(input))) }
    const wants = runtimeFilter(input)
    return {
      projection: seen(runtimeProjection(wants.event, this.#runtimeFrames)),
      // Whoever speaks now is in memory.
      tokens: this.#deps.live.subscribe(
        (delta) => wants.token(delta) && isSeen(delta.sessionId as SessionId) === true,
      ),
    }
  }
}

// The header wins: a browser that reconnects repeats the old query beside its newer header.
function askedBy(input: StreamRequest['input'], lastEventId: string | undefined): Asked | undefined {
  if (lastEventId) return { id: lastEventId, by: 'header' }
  return typeof input['after'] === 'string' ? { id: input['after'], by: 'query' } : undefined
}

function canonicalFilter(input: StreamRequest['input']): (event: AgentEvent) => boolean {
  const { type, told, session, run, trace } = input as {
    type?: string
    told?: boolean
    session?: string
    run?: string
    trace?: string
  }
  const types = type === undefined ? undefined : new Set<string>(type.split(','))
  return (event) =>
    (!types || types.has(event.type)) &&
    (!told || catalogue[event.type]?.sm !== undefined) &&
    isSession(event.sessionId, session) &&
    (run === undefined || event.runId === run) &&
    (trace === undefined || event.traceId === trace)
}

function runtimeFilter(input: StreamRequest['input']) {
  const { session_id, project_root } = input as { session_id?: string; project_root?: string }
  const isRoot = (root: string | undefined) => project_root === undefined || root === project_root
  return {
    event: (event: AgentEvent, projectRoot: string | undefined) =>
      isSession(event.sessionId, session_id) && isRoot(projectRoot),
    token: (delta: LiveDelta) => isSession(delta.sessionId, session_id) && isRoot(delta.projectRoot),
  }
}

const isSession = (id: string, wanted: string | undefined): boolean =>
  wanted === undefined || id === wanted || shortId(id as SessionId) === wanted
