import { type AgentEvent, isReport } from '../../contract/event.ts'
import type { SessionId } from '../../contract/ids.ts'
import { tables } from '../../contract/index-tables.ts'
import type { Insert, RowOp } from '../../contract/row-op.ts'
import { phaseOf, workflowOf } from './event-handlers.ts'
import { titleOf } from './event-text.ts'
import { approvalOps, messageOps } from './message-rows.ts'
import { runOps } from './run-rows.ts'
import { sessionOps } from './session-rows.ts'
import { spanOps } from './span-rows.ts'
import { taskOps, workflowOps } from './task-rows.ts'
import { ledgerOps, rollupOps } from './usage-rows.ts'

type Projection = (event: AgentEvent, atMs: number, title: string | undefined) => readonly RowOp[]

const projections: readonly Projection[] = [
  rollupOps,
  sessionOps,
  runOps,
  spanOps,
  taskOps,
  messageOps,
  approvalOps,
  workflowOps,
  // The ledger carries its totals to sessions, runs and spans, so their rows come first.
  ledgerOps,
]

/** What one event does to the index. Events go in by seq; the result depends on nothing but the event. */
export function project(event: AgentEvent): RowOp[] {
  const atMs = Date.parse(event.timestamp)
  if (Number.isNaN(atMs)) throw new Error(`event ${event.seq} has the timestamp ${event.timestamp}`)
  const title = titleOf(event)
  const ops: RowOp[] = [feedOp(event, atMs, title)]
  const isBound = isReport(event)
  for (const projection of projections)
    for (const op of projection(event, atMs, title)) ops.push(isBound ? bound(op, event.sessionId) : op)
  if (event.type === 'journal.erased') ops.push({ op: 'erase', seqs: event.payload.seqs })
  if (event.type === 'event.parked') {
    const { follower, seq, error } = event.payload
    ops.push({ op: 'upsert', table: 'parked', key: [follower, seq], keep: { error } })
  }
  return ops
}

/** What others tell changes no row of another session, whatever ids they name. */
const bound = (op: RowOp, of: SessionId): RowOp =>
  op.op === 'upsert' && 'sessionId' in tables[op.table].columns ? { ...op, of } : op

/** The event's line in the feed. */
function feedOp(event: AgentEvent, atMs: number, title: string | undefined): Insert {
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
