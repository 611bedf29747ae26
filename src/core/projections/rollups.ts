import type { AgentEvent } from '../../contract/event.ts'
import type { Amounts } from '../../contract/index-tables.ts'
import type { RowOp } from '../../contract/row-op.ts'
import type { Verdict } from '../../contract/values.ts'
import { type Handlers, handle } from './handlers.ts'
import { phaseOf, workflowOf } from './place.ts'

const dayMs = 86_400_000

/** The UTC day of a time, as a number that sorts. */
export const dayOf = (atMs: number): number => Math.floor(atMs / dayMs)

const one = { events: 1 } as const

/** Counts an event in its slice: day, session, actor, workflow, phase. */
export function rollupOps(event: AgentEvent, atMs: number): RowOp[] {
  const workflowId = workflowOf(event) ?? ''
  const phase = phaseOf(event) ?? ''
  const key = [dayOf(atMs), event.sessionId, event.actor, workflowId, phase]
  const ops: RowOp[] = [{ op: 'upsert', table: 'rollups', key, add: one }]
  const add = handle(counts, event, atMs)
  if (add !== undefined) ops.push({ op: 'upsert', table: 'rollups', key, add })
  return ops
}

type Counts = Amounts<'rollups'>
type VerdictCount = 'approved' | 'changesRequested' | 'rejected'
const verdictColumn: Record<(typeof Verdict)['options'][number], VerdictCount> = {
  approved: 'approved',
  changes_requested: 'changesRequested',
  rejected: 'rejected',
}

const counts: Handlers<Counts> = {
  'tool.call.completed': () => ({ toolCompleted: 1 }),
  'tool.call.failed': () => ({ toolFailed: 1 }),
  'tool.call.denied': () => ({ toolDenied: 1 }),
  'agent.message.created': () => ({ messages: 1 }),
  'agent.spawned': ({ payload: { depth } }) =>
    depth === undefined ? { agents: 1 } : { agents: 1, depths: 1, depthSum: depth },
  'handoff.requested': () => ({ handoffs: 1 }),
  'handoff.loop_detected': () => ({ handoffLoops: 1 }),
  'task.completed': () => ({ tasksCompleted: 1 }),
  'task.failed': () => ({ tasksFailed: 1 }),
  'task.cancelled': () => ({ tasksCancelled: 1 }),
  'loop.round.completed': ({ payload: { verdict } }) =>
    verdict === undefined ? {} : { [verdictColumn[verdict]]: 1 },
  'claim.verified': ({ payload }) => ({ [payload.verdict]: 1 }),
  'approval.granted': () => ({ granted: 1 }),
  'approval.rejected': () => ({ refused: 1 }),
  'approval.expired': () => ({ expired: 1 }),
  'context.compacted': ({ payload: { tokensBefore, tokensAfter } }) =>
    // A ratio needs both ends of the same compaction.
    tokensBefore === undefined || tokensAfter === undefined ? {} : { tokensBefore, tokensAfter },
}
