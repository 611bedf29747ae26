import { AppError } from '../contract/errors.ts'
import type { AgentEvent } from '../contract/event.ts'
import { type SessionId, shortId } from '../contract/ids.ts'
import type { SseRouteName } from '../contract/routes.ts'
import type { Clock } from '../ports/clock.ts'
import type { JournalReader } from '../ports/journal.ts'
import { type Asked, startOf } from './cursor.ts'
import {
  type ContextOf,
  canonicalProjection,
  type Projection,
  RuntimeFrames,
  runtimeProjection,
} from './frames.ts'
import type { LiveDelta, LiveHub, TokenQueue } from './live.ts'
import type { OnBug } from './problem.ts'
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
  readonly onBug: OnBug
}

/** One client's wish. */
export type StreamRequest = {
  readonly input: Readonly<Record<string, unknown>>
  readonly lastEventId: string | undefined
  readonly signal: AbortSignal
  /** Cuts the connection of a client that does not read. */
  readonly cut: () => void
}

/** The streams that are open now. */
export class Streams {
  readonly #deps: StreamDeps
  readonly #open = new Set<OpenStream>()
  readonly #runtimeFrames: RuntimeFrames

  constructor(deps: StreamDeps) {
    this.#deps = deps
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
  open(name: SseRouteName, { input, lastEventId, signal, cut }: StreamRequest): ReadableStream<Uint8Array> {
    const { journal, clock, limits, onBug } = this.#deps
    const start = startOf(askedBy(input, lastEventId), journal)
    if (this.#open.size >= limits.maxClients)
      throw new AppError(
        'limited',
        `${limits.maxClients} streams are already open; close one, or try again later`,
      )
    const stream: OpenStream = openStream({
      journal,
      clock,
      start,
      ...this.#shows(name, input),
      heartbeatMs: limits.heartbeatMs,
      stallMs: limits.stallMs,
      onEnd: (why) => {
        this.#open.delete(stream)
        signal.removeEventListener('abort', stream.end)
        if (why === 'stalled') cut()
      },
      onBug: (error) => onBug(error, name),
    })
    this.#open.add(stream)
    // A client that leaves before its first read is never cancelled by the listener.
    signal.addEventListener('abort', stream.end, { once: true })
    if (signal.aborted) stream.end()
    return stream.body
  }

  endAll(): void {
    for (const stream of this.#open) stream.end()
  }

  #shows(name: SseRouteName, input: StreamRequest['input']): { projection: Projection; tokens?: TokenQueue } {
    if (name === 'streamEvents') return { projection: canonicalProjection(canonicalFilter(input)) }
    const wants = runtimeFilter(input)
    return {
      projection: runtimeProjection(wants.event, this.#runtimeFrames),
      tokens: this.#deps.live.subscribe(wants.token),
    }
  }
}

// The header wins: a browser that reconnects repeats the old query beside its newer header.
function askedBy(input: StreamRequest['input'], lastEventId: string | undefined): Asked | undefined {
  if (lastEventId) return { id: lastEventId, by: 'header' }
  return typeof input['after'] === 'string' ? { id: input['after'], by: 'query' } : undefined
}

function canonicalFilter(input: StreamRequest['input']): (event: AgentEvent) => boolean {
  const { type, session, run, trace } = input as {
    type?: string
    session?: string
    run?: string
    trace?: string
  }
  const types = type === undefined ? undefined : new Set<string>(type.split(','))
  return (event) =>
    (!types || types.has(event.type)) &&
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
