import type { AgentEvent } from '../../contract/event.ts'
import type { Amounts } from '../../contract/index-tables.ts'
import type { RowOp } from '../../contract/row-op.ts'
import type { Verdict } from '../../contract/values.ts'
import { type Handlers, handle } from './handlers.ts'
import { phaseOf, workflowOf } from './place.ts'

const dayMs = 86_400_000

/** The UTC day of a time, as a number that sorts. */
export const dayOf = (atMs: number): number => Math.floor(atMs / dayMs)

/** Counts an event in its slice: day, session, actor, workflow, phase. */
export function rollupOps(event: AgentEvent, atMs: number): RowOp[] {
  const workflowId = workflowOf(event) ?? ''
  const phase = phaseOf(event) ?? ''
  return [
    {
      op: 'upsert',
      table: 'rollups',
      key: [dayOf(atMs), event.sessionId, event.actor, workflowId, phase],
      add: handle(counts, event, atMs) ?? one,
    },
  ]
}

const one = { events: 1 } as const

type Counts = Amounts<'rollups'>
type VerdictCount = 'approved' | 'changesRequested' | 'rejected'
const verdictColumn: Record<(typeof Verdict)['options'][number], VerdictCount> = {
  approved: 'approved',
  changes_requested: 'changesRequested',
  rejected: 'rejected',
}

const counts: Handlers<Counts> = {
  'tool.call.completed': () => ({ events: 1, toolCompleted: 1 }),
  'tool.call.failed': () => ({ events: 1, toolFailed: 1 }),
  'tool.call.denied': () => ({ events: 1, toolDenied: 1 }),
  'agent.message.created': () => ({ events: 1, messages: 1 }),
  'agent.spawned': ({ payload: { depth } }) =>
    depth === undefined ? { events: 1, agents: 1 } : { events: 1, agents: 1, depths: 1, depthSum: depth },
  'handoff.requested': () => ({ events: 1, handoffs: 1 }),
  'handoff.loop_detected': () => ({ events: 1, handoffLoops: 1 }),
  'task.completed': () => ({ events: 1, tasksCompleted: 1 }),
  'task.failed': () => ({ events: 1, tasksFailed: 1 }),
  'task.cancelled': () => ({ events: 1, tasksCancelled: 1 }),
  'loop.round.completed': ({ payload: { verdict } }) =>
    verdict === undefined ? one : { events: 1, [verdictColumn[verdict]]: 1 },
  'claim.verified': ({ payload }) => ({ events: 1, [payload.verdict]: 1 }),
  'approval.granted': () => ({ events: 1, granted: 1 }),
  'approval.rejected': () => ({ events: 1, refused: 1 }),
  'approval.expired': () => ({ events: 1, expired: 1 }),
  'context.compacted': ({ payload: { tokensBefore, tokensAfter } }) =>
    // A ratio needs both ends of the same compaction.
    tokensBefore === undefined || tokensAfter === undefined ? one : { events: 1, tokensBefore, tokensAfter },
}
