import type { AgentEvent, EventOf } from '../../contract/event.ts'
import type { Amounts, RowOp, Values } from '../../contract/row-op.ts'
import type { Verdict } from '../../contract/values.ts'
import { type ModelCall, modelCall } from '../ledger/model-usage.ts'
import { type Handlers, handle, phaseOf, workflowOf } from './event-handlers.ts'

const dayMs = 86_400_000

/** The UTC day of a time, as a number that sorts. */
const dayOf = (atMs: number): number => Math.floor(atMs / dayMs)

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

/** One row for each model call; a later report of the same call replaces its figures. */
export function ledgerOps(event: AgentEvent, atMs: number): RowOp[] {
  const call = modelCall(event)
  if (call === undefined) return []
  const slice = { sessionId: event.sessionId, runId: event.runId, ...sliceOf(event, atMs) }
  // Where a call was made is said by its own event; a correction may come from elsewhere.
  const own: { set: Values<'ledger'>; keep: Values<'ledger'> } =
    event.type === 'llm.request.completed'
      ? { set: { ...slice, ...answer(event) }, keep: {} }
      : { set: correction(event), keep: slice }
  return [
    {
      op: 'upsert',
      table: 'ledger',
      key: [call.responseId],
      isFresh: !call.isCorrection,
      set: { ...own.set, ...figures(call), lastSeq: event.seq },
      keep: { ...own.keep, seq: event.seq, calls: 1, ...(call.costNano === undefined && { unpriced: 1 }) },
      add: { reports: 1 },
    },
  ]
}

function sliceOf(event: AgentEvent, atMs: number): Values<'ledger'> {
  return {
    day: dayOf(atMs),
    atMs,
    actor: event.actor,
    workflowId: workflowOf(event) ?? '',
    phase: phaseOf(event) ?? '',
  }
}

function figures(call: ModelCall): Values<'ledger'> {
  const { input, output, cacheRead, cacheWrite, reasoning, tokens, costNano, estimatedNano } = call
  const counts = { input, output, cacheRead, cacheWrite, reasoning, tokens }
  return costNano === undefined ? counts : { ...counts, costNano, estimatedNano, unpriced: 0 }
}

function answer({ traceId, spanId, payload }: EventOf<'llm.request.completed'>): Values<'ledger'> {
  return {
    traceId,
    spanId,
    provider: payload.provider,
    model: payload.model,
    billing: payload.billing,
    source: payload.source,
    finishReason: payload.finishReason,
    durationMs: payload.durationMs,
  }
}

function correction(event: AgentEvent): Values<'ledger'> {
  if (event.type !== 'llm.usage.corrected') return {}
  return { model: event.payload.model, source: event.payload.source }
}
