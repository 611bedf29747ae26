import type { AgentEvent, EventOf } from '../../contract/event.ts'
import type { Values } from '../../contract/index-tables.ts'
import type { RowOp } from '../../contract/row-op.ts'
import { type ModelCall, modelCall } from '../ledger/model-call.ts'
import { phaseOf, workflowOf } from './place.ts'
import { dayOf } from './rollups.ts'

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
  const { input, output, cacheRead, cacheWrite, reasoning, tokens, costNano } = call
  const counts = { input, output, cacheRead, cacheWrite, reasoning, tokens }
  return costNano === undefined ? counts : { ...counts, costNano, unpriced: 0 }
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
