import { type AgentEvent, catalogue } from '../../contract/event.ts'
import type { RowOp } from '../../contract/row-op.ts'
import { phaseOf, workflowOf } from './place.ts'
import { spanEnd } from './span-end.ts'
import { callId, modelOf, spanKind, spanName, toolOf } from './span-name.ts'

/** Opens or closes the span of an event; points inside a span leave it alone. */
export function spanOps(event: AgentEvent, atMs: number, title: string | undefined): RowOp[] {
  const role = catalogue[event.type]?.span
  if (role !== 'start' && role !== 'end') return []
  const isStart = role === 'start'
  return [
    {
      op: 'upsert',
      table: 'spans',
      key: [event.traceId, event.spanId],
      isFresh: isStart,
      // What either end of a span may say of it; the first to say it is kept.
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
        title,
        tool: toolOf(event),
        model: modelOf(event),
        callId: callId(event),
        type: isStart ? event.type : undefined,
        startedMs: isStart ? atMs : undefined,
        orphan: isStart ? undefined : 1,
      },
      ...(isStart ? opened : { unless: 'endType', set: spanEnd(event, atMs) }),
    },
  ]
}

// The start may come after the end: then the span was closed without one until now.
const opened = { set: { orphan: 0 } } as const
