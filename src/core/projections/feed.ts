import type { AgentEvent } from '../../contract/event.ts'
import type { Insert } from '../../contract/row-op.ts'
import { phaseOf, workflowOf } from './place.ts'

/** The event's line in the feed. */
export function feedOp(event: AgentEvent, atMs: number, title: string | undefined): Insert {
  return {
    op: 'insert',
    table: 'events',
    row: {
      seq: event.seq,
      id: event.id,
      type: event.type,
      atMs,
      sessionId: event.sessionId,
      runId: event.runId,
      traceId: event.traceId,
      spanId: event.spanId,
      parentSpanId: event.parentSpanId,
      taskId: event.taskId,
      actor: event.actor,
      workflowId: workflowOf(event),
      phase: phaseOf(event),
      title,
    },
  }
}
