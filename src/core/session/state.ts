import { catalogue, type Draft } from '../../contract/event.ts'
import type { RunId, SessionId, SpanId, TraceId } from '../../contract/ids.ts'
import type { Lifecycle } from '../../contract/values.ts'
import { type ClosingFacts, closingFacts, type SpanKind, spanKindOf } from '../trace/span-kinds.ts'

/** A span that has begun and not ended; only these are kept, ended ones are rows of the index. */
export type OpenSpan = {
  readonly kind: SpanKind
  readonly traceId: TraceId
  readonly spanId: SpanId
  readonly parentSpanId?: SpanId
  readonly runId: RunId
  readonly parentRunId?: RunId
  readonly taskId?: string
  readonly workflowId?: string
  readonly phase?: string
  readonly facts: ClosingFacts
}

/** What deciding needs to know of one session. */
export type SessionState = {
  readonly sessionId: SessionId
  /** The trace it began in; spans of others may be open in it too. */
  readonly traceId?: TraceId
  lifecycle: Lifecycle
  readonly parentSessionId?: SessionId
  /** By `spanKey`, in the order they began. */
  readonly open: Map<string, OpenSpan>
}

const ended = new Set<Lifecycle>(['completed', 'error', 'abandoned', 'killed', 'cancelled'])

export const hasEnded = (state: SessionState): boolean => ended.has(state.lifecycle)

/** Most spans are of the session's own trace, where the span's id is enough and no text need be joined. */
export const spanKey = (
  state: Pick<SessionState, 'traceId'>,
  span: { traceId: string; spanId: string },
): string => (span.traceId === state.traceId ? span.spanId : span.traceId + span.spanId)

/**
 * What is now true. The state given is used up: the caller keeps only the answer, which lets a session
 * with thousands of open spans take an event without copying them.
 */
export function evolve(state: SessionState | undefined, event: Draft): SessionState | undefined {
  if (event.type === 'session.started') return begun(event)
  if (!state) return undefined
  const role = catalogue[event.type].span
  if (role === 'start') state.open.set(spanKey(state, event), openSpan(event))
  else if (role === 'end') state.open.delete(spanKey(state, event))
  if (event.type === 'session.completed') state.lifecycle = event.payload.outcome
  else if (event.type === 'session.failed') state.lifecycle = 'error'
  else if (event.type === 'session.reopened') state.lifecycle = 'running'
  else if (event.type === 'session.state.changed') state.lifecycle = event.payload.to
  return state
}

function begun(event: Extract<Draft, { type: 'session.started' }>): SessionState {
  const parentSessionId = event.payload.parentSessionId
  return {
    sessionId: event.sessionId,
    traceId: event.traceId,
    lifecycle: 'running',
    ...(parentSessionId && { parentSessionId }),
    open: new Map([[event.spanId, openSpan(event)]]),
  }
}

function openSpan(event: Draft): OpenSpan {
  const span: { -readonly [K in keyof OpenSpan]: OpenSpan[K] } = {
    kind: spanKindOf[event.type] as SpanKind,
    traceId: event.traceId,
    spanId: event.spanId,
    runId: event.runId,
    facts: closingFacts(event),
  }
  if (event.parentSpanId) span.parentSpanId = event.parentSpanId
  if (event.parentRunId) span.parentRunId = event.parentRunId
  if (event.taskId) span.taskId = event.taskId
  if (event.workflowId) span.workflowId = event.workflowId
  if (event.phase) span.phase = event.phase
  return span
}
