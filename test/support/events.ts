import fc from 'fast-check'
import type * as z from 'zod'
import {
  type AgentEvent,
  type Catalogue,
  catalogue,
  type EventOf,
  type EventType,
  eventTypes,
  schemaVersion,
} from '../../src/contract/event.ts'
import type { EventId, RunId, SessionId, SpanId, TraceId } from '../../src/contract/ids.ts'
import { arbitraryOf } from './schema-arbitrary.ts'

type PayloadInputOf<T extends EventType> = z.input<Catalogue[T]['payload']>

/** Ids by number; session and run 0 are the fleet's own. */
export const sessionIdOf = (n: number) => `ses_${base32(n)}` as SessionId
export const runIdOf = (n: number) => `run_${base32(n)}` as RunId
export const eventIdOf = (n: number) => `evt_${base32(n)}` as EventId
export const traceIdOf = (n: number) => (n + 1).toString(16).padStart(32, '0') as TraceId
export const spanIdOf = (n: number) => (n + 1).toString(16).padStart(16, '0') as SpanId

/** When the first event of a made stream happens. */
export const startMs = Date.parse('2026-03-01T12:00:00.000Z')

/** What a test says of an event besides its payload; the rest has fixed values. */
export type Said = Partial<Omit<AgentEvent, 'type' | 'payload' | 'seq' | 'timestamp'>> & {
  /** Milliseconds after the start of the stream; one second later than the event before when not said. */
  readonly atMs?: number
}

/** Makes events with seq 1, 2, 3 … as a journal would hold them. Payloads are checked against the catalogue. */
export class EventStream {
  readonly events: AgentEvent[] = []
  readonly #usual: Said
  #next: number

  constructor(usual: Said = {}, firstSeq = 1) {
    this.#usual = usual
    this.#next = firstSeq
  }

  add<T extends EventType>(type: T, payload: PayloadInputOf<T>, said: Said = {}): EventOf<T> {
    const seq = this.#next++
    const { atMs = seq * 1000, ...envelope } = { ...this.#usual, ...said }
    const timestamp = new Date(startMs + atMs).toISOString()
    const event = {
      seq,
      id: eventIdOf(seq),
      traceId: traceIdOf(0),
      spanId: spanIdOf(0),
      sessionId: sessionIdOf(1),
      runId: runIdOf(1),
      actor: 'agent',
      timestamp,
      recordedAt: timestamp,
      schemaVersion,
      ...envelope,
      type,
      payload: catalogue[type].payload.parse(payload),
    } as unknown as EventOf<T>
    this.events.push(event)
    return event
  }
}

// What happens most is drawn most, so that starts meet their ends.
const frequent: readonly EventType[] = [
  'session.started',
  'session.completed',
  'session.reopened',
  'session.state.changed',
  'agent.spawned',
  'agent.completed',
  'agent.failed',
  'agent.task.assigned',
  'task.completed',
  'tool.call.started',
  'tool.call.completed',
  'tool.call.failed',
  'tool.call.denied',
  'llm.request.started',
  'llm.request.completed',
  'llm.usage.corrected',
  'agent.message.created',
  'message.queued',
  'message.accepted',
  'approval.requested',
  'approval.granted',
  'journal.erased',
]

const type = fc.oneof(fc.constantFrom(...frequent), fc.constantFrom(...eventTypes))
const payloads = new Map<EventType, fc.Arbitrary<unknown>>()

/** Any payload the catalogue allows for a type. */
export function payloadOf(of: EventType): fc.Arbitrary<Record<string, unknown>> {
  const known = payloads.get(of) ?? arbitraryOf(catalogue[of].payload)
  payloads.set(of, known)
  return known as fc.Arbitrary<Record<string, unknown>>
}

// Few ids, so that events speak of the same things: repeats, late starts, second ends, corrections.
const pick = (n: number) => fc.nat({ max: n - 1 })
const place = fc.record({
  session: pick(4),
  run: pick(3),
  trace: pick(3),
  span: pick(6),
  parent: fc.option(pick(6)),
  task: fc.option(pick(3)),
  actor: fc.constantFrom('main', 'developer-1', 'operator:cli'),
  workflow: fc.option(pick(2)),
  phase: fc.option(fc.constantFrom('plan', 'work')),
  parentRun: fc.option(pick(3)),
  id: pick(4),
  dtMs: fc.integer({ min: -5_000, max: 50_000_000 }),
})
type Place = typeof place extends fc.Arbitrary<infer P> ? P : never

const step = type.chain((of) => fc.record({ of: fc.constant(of), payload: payloadOf(of), place }))
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

/** Streams of events as a journal would hold them: every type, few ids, times that may step back. */
export const eventStreams = (maxLength = 60): fc.Arbitrary<AgentEvent[]> =>
  fc.array(step, { maxLength, size: 'max' }).map(streamOf)

function streamOf(steps: readonly Step[]): AgentEvent[] {
  const stream = new EventStream()
  let atMs = 0
  for (const { of, payload, place: at } of steps) {
    atMs += at.dtMs
    stream.add(of, shared(payload, at, stream.events.length) as PayloadInputOf<typeof of>, {
      atMs: Math.max(atMs, 0),
      sessionId: sessionIdOf(at.session),
      runId: runIdOf(at.run),
      traceId: traceIdOf(at.trace),
      spanId: spanIdOf(at.span),
      actor: at.actor,
      ...(at.parent !== null && { parentSpanId: spanIdOf(at.parent) }),
      ...(at.task !== null && { taskId: `task-${at.task}` }),
      ...(at.workflow !== null && { workflowId: `workflow-${at.workflow}` }),
      ...(at.phase !== null && { phase: at.phase }),
      ...(at.parentRun !== null && { parentRunId: runIdOf(at.parentRun) }),
    })
  }
  return stream.events
}

const idFields = ['responseId', 'messageId', 'approvalId', 'taskId', 'callId'] as const

function shared(payload: Record<string, unknown>, { id, session }: Place, written: number): object {
  const made: Record<string, unknown> = { ...payload }
  for (const field of idFields) if (field in made) made[field] = `${field}-${id}`
  if ('parentSessionId' in made) made['parentSessionId'] = sessionIdOf(session + 1)
  // Only what is in the journal can be erased from it.
  if ('seqs' in made) made['seqs'] = written === 0 ? [] : [1 + ((id * 7) % written), written]
  return made
}

function base32(n: number): string {
  const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
  let text = ''
  for (let rest = n; rest > 0; rest = Math.floor(rest / 32)) text = alphabet[rest % 32] + text
  return text.padStart(26, '0')
}
