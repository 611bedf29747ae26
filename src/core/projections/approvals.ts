import type { AgentEvent, EventOf } from '../../contract/event.ts'
import type { Values } from '../../contract/index-tables.ts'
import type { RowOp } from '../../contract/row-op.ts'
import { type Handlers, handle } from './handlers.ts'
import { listText } from './tasks.ts'
import { oneLine, preview } from './text.ts'

/** A question is open until its first answer; later ones change nothing. */
export function approvalOps(event: AgentEvent, atMs: number): RowOp[] {
  const op = handle(changes, event, atMs)
  return op === undefined ? [] : [op]
}

type Decision = EventOf<'approval.granted' | 'approval.rejected' | 'approval.expired'>

const changes: Handlers<RowOp> = {
  'approval.requested': (event, atMs) => {
    const { payload } = event
    return {
      op: 'upsert',
      table: 'approvals',
      key: [payload.approvalId],
      isFresh: true,
      keep: {
        ...where(event),
        action: preview(payload.action),
        reason: oneLine(payload.reason),
        risk: payload.risk,
        options: payload.options === undefined ? undefined : listText(payload.options),
        askedOf: payload.askedOf,
        timeoutMs: payload.timeoutMs,
        requestedMs: atMs,
      },
    }
  },
  'approval.granted': (event, atMs) =>
    decide(event, {
      decision: 'granted',
      decidedBy: event.payload.by,
      decidedMs: atMs,
      scope: event.payload.scope,
      answer: oneLine(event.payload.answer ?? event.payload.reason, 400),
      latencyMs: event.payload.latencyMs,
    }),
  'approval.rejected': (event, atMs) =>
    decide(event, {
      decision: 'rejected',
      decidedBy: event.payload.by,
      decidedMs: atMs,
      answer: oneLine(event.payload.reason, 400),
      latencyMs: event.payload.latencyMs,
    }),
  'approval.expired': (event, atMs) =>
    decide(event, { decision: 'expired', decidedMs: atMs, answer: oneLine(event.payload.reason, 400) }),
}

function decide(event: Decision, set: Values<'approvals'>): RowOp {
  return {
    op: 'upsert',
    table: 'approvals',
    key: [event.payload.approvalId],
    unless: 'decision',
    keep: where(event),
    set,
  }
}

function where(event: Decision | EventOf<'approval.requested'>): Values<'approvals'> {
  return {
    seq: event.seq,
    sessionId: event.sessionId,
    runId: event.runId,
    traceId: event.traceId,
    spanId: event.spanId,
    actor: event.actor,
    subject: event.payload.subject,
  }
}
