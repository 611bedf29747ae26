import type { AgentEvent, EventOf } from '../../contract/event.ts'
import type { Amounts, Values } from '../../contract/index-tables.ts'
import type { RowOp } from '../../contract/row-op.ts'
import { type Handlers, handle } from './handlers.ts'
import { oneLine, preview } from './text.ts'

/** A session's record of a message: what was said and how far it got. */
export function messageOps(event: AgentEvent, atMs: number): RowOp[] {
  const change = handle(changes, event, atMs)
  return change === undefined ? [] : [change]
}

type MessageEvent = EventOf<
  'agent.message.created' | 'message.queued' | 'message.delivered' | 'message.accepted' | 'message.failed'
>
type Change = {
  readonly set?: Values<'messages'>
  readonly keep?: Values<'messages'>
  readonly max?: Amounts<'messages'>
}

function upsert(event: MessageEvent, change: Change): RowOp {
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

const changes: Handlers<RowOp> = {
  'agent.message.created': (event, atMs) => {
    const { payload } = event
    return upsert(event, {
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
    return upsert(event, {
      set: { state: 'queued', mode: payload.mode },
      keep: { fromAgent: payload.from, toAgent: payload.to, preview: payload.preview, queuedMs: atMs },
      max: { attempts: payload.attempt },
    })
  },
  'message.delivered': (event, atMs) =>
    upsert(event, {
      set: { state: 'delivered', detail: oneLine(event.payload.detail) },
      keep: { toAgent: event.payload.to, deliveredMs: atMs },
      max: { attempts: event.payload.attempt },
    }),
  'message.accepted': (event, atMs) =>
    upsert(event, {
      set: { state: 'accepted', detail: oneLine(event.payload.detail) },
      keep: { toAgent: event.payload.to, acceptedMs: atMs },
      max: { attempts: event.payload.attempt },
    }),
  'message.failed': (event, atMs) => {
    const { payload } = event
    return upsert(event, {
      set: { state: 'failed', detail: oneLine(payload.reason ?? payload.detail ?? payload.errorType) },
      keep: { toAgent: payload.to, failedMs: atMs },
      max: { attempts: payload.attempt ?? payload.retryCount },
    })
  },
}
