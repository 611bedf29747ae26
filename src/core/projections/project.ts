import type { AgentEvent } from '../../contract/event.ts'
import type { RowOp } from '../../contract/row-op.ts'
import { approvalOps } from './approvals.ts'
import { feedOp } from './feed.ts'
import { ledgerOps } from './ledger.ts'
import { messageOps } from './messages.ts'
import { rollupOps } from './rollups.ts'
import { runOps } from './runs.ts'
import { sessionOps } from './sessions.ts'
import { spanOps } from './spans.ts'
import { taskOps } from './tasks.ts'
import { titleOf } from './title.ts'
import { workflowOps } from './workflows.ts'

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
  for (const projection of projections) for (const op of projection(event, atMs, title)) ops.push(op)
  if (event.type === 'journal.erased') ops.push({ op: 'erase', seqs: event.payload.seqs })
  if (event.type === 'event.parked') {
    const { follower, seq, error } = event.payload
    ops.push({ op: 'upsert', table: 'parked', key: [follower, seq], keep: { error } })
  }
  return ops
}
