import { type AgentEvent, catalogue } from '../../contract/event.ts'
import type { RowOp } from '../../contract/row-op.ts'
import { phaseOf, workflowOf } from './place.ts'
import { spanEnd } from './span-end.ts'
import { callId, modelOf, spanKind, spanName, toolOf } from './span-name.ts'
import { titleOf } from './title.ts'

/** Opens or closes the span of an event; points inside a span leave it alone. */
export function spanOps(event: AgentEvent, atMs: number): RowOp[] {
  const role = catalogue[event.type]?.span
  if (role === 'start') return [identify(event), open(event, atMs)]
  if (role === 'end') return [close(event, atMs), identify(event)]
  return []
}

function open(event: AgentEvent, atMs: number): RowOp {
  return {
    op: 'upsert',
    table: 'spans',
    key: [event.traceId, event.spanId],
    keep: { type: event.type, startedMs: atMs },
    // The start may come after the end: then the span was closed without one until now.
    set: { orphan: 0 },
  }
}

function close(event: AgentEvent, atMs: number): RowOp {
  const { status, detail, durationMs } = spanEnd(event)
  return {
    op: 'upsert',
    table: 'spans',
    key: [event.traceId, event.spanId],
    unless: 'endType',
    keep: { orphan: 1 },
    set: { endType: event.type, endedMs: atMs, status, detail, durationMs },
  }
}

// What either end of a span may say of it; the first to say it is kept.
function identify(event: AgentEvent): RowOp {
  return {
    op: 'upsert',
    table: 'spans',
    key: [event.traceId, event.spanId],
    keep: {
      seq: event.seq,
      parentSpanId: event.parentSpanId,
      sessionId: event.sessionId,
      runId: event.runId,
      taskId: event.taskId,
      actor: event.actor,
      workflowId: workflowOf(event),
      phase: phaseOf(event),
      kind: spanKind(event),
      name: spanName(event),
      title: titleOf(event),
      tool: toolOf(event),
      model: modelOf(event),
      callId: callId(event),
    },
  }
}
