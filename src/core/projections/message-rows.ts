import type { AgentEvent, EventOf } from '../../contract/event.ts'
import type { Amounts, RowOp, Values } from '../../contract/row-op.ts'
import { type Handlers, handle } from './event-handlers.ts'
import { listText, oneLine, preview } from './row-text.ts'

/** A session's record of a message: what was said and how far it got. */
export function messageOps(event: AgentEvent, atMs: number): RowOp[] {
  const change = handle(messageChanges, event, atMs)
  return change === undefined ? [] : [change]
}

type MessageEvent = EventOf<
  'agent.message.created' | 'message.queued' | 'message.delivered' | 'message.accepted' | 'message.failed'
>

type MessageChange = {
  readonly set?: Values<'messages'>
  readonly keep?: Values<'messages'>
  readonly max?: Amounts<'messages'>
}

function messageUpsert(event: MessageEvent, change: MessageChange): RowOp {
  return {
    op: 'upsert',
    table: 'messages',
    key: [event.payload.messageId, event.sessionId],
    isFresh: event.type === 'agent.message.created',
    keep: {
      seq: event.seq,
      runId: event.runId,
      traceId: event.traceId,
      spanId: event.spanId,
      taskId: event.taskId,
      ...change.keep,
    },
    set: change.set ?? {},
    max: change.max ?? {},
  }
}

const messageChanges: Handlers<RowOp> = {
  'agent.message.created': (event, atMs) => {
    const { payload } = event
    return messageUpsert(event, {
      set: {
        fromAgent: payload.from.agentId,
        toAgent: payload.to.agentId,
        messageType: payload.messageType,
        sequenceNumber: payload.sequenceNumber,
        correlationId: payload.correlationId,
        replyTo: payload.replyTo,
        preview: preview(payload.text ?? payload.payload),
      },
      keep: { state: 'created', createdMs: atMs },
    })
  },
  'message.queued': (event, atMs) => {
    const { payload } = event
    return messageUpsert(event, {
      set: { state: 'queued', mode: payload.mode },
      keep: { fromAgent: payload.from, toAgent: payload.to, preview: payload.preview, queuedMs: atMs },
      max: { attempts: payload.attempt },
    })
  },
  'message.delivered': (event, atMs) =>
    messageUpsert(event, {
      set: { state: 'delivered', detail: oneLine(event.payload.detail) },
      keep: { toAgent: event.payload.to, deliveredMs: atMs },
      max: { attempts: event.payload.attempt },
    }),
  'message.accepted': (event, atMs) =>
    messageUpsert(event, {
      set: { state: 'accepted', detail: oneLine(event.payload.detail) },
      keep: { toAgent: event.payload.to, acceptedMs: atMs },
      max: { attempts: event.payload.attempt },
    }),
  'message.failed': (event, atMs) => {
    const { payload } = event
    return messageUpsert(event, {
      set: { state: 'failed', detail: oneLine(payload.reason ?? payload.detail ?? payload.errorType) },
      keep: { toAgent: payload.to, failedMs: atMs },
      max: { attempts: payload.attempt ?? payload.retryCount },
    })
  },
}

/** A question is open until its first answer; later ones change nothing. */
export function approvalOps(event: AgentEvent, atMs: number): RowOp[] {
  const op = handle(approvalChanges, event, atMs)
  return op === undefined ? [] : [op]
}

type Decision = EventOf<'approval.granted' | 'approval.rejected' | 'approval.expired'>

const approvalChanges: Handlers<RowOp> = {
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
    decision(event, {
      decision: 'granted',
      decidedBy: event.payload.by,
      decidedMs: atMs,
      scope: event.payload.scope,
      answer: oneLine(event.payload.answer ?? event.payload.reason, 400),
      latencyMs: event.payload.latencyMs,
    }),
  'approval.rejected': (event, atMs) =>
    decision(event, {
      decision: 'rejected',
      decidedBy: event.payload.by,
      decidedMs: atMs,
      answer: oneLine(event.payload.reason, 400),
      latencyMs: event.payload.latencyMs,
    }),
  'approval.expired': (event, atMs) =>
    decision(event, { decision: 'expired', decidedMs: atMs, answer: oneLine(event.payload.reason, 400) }),
}

function decision(event: Decision, set: Values<'approvals'>): RowOp {
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
