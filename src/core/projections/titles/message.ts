import type { messageEvents } from '../../../contract/events/message.ts'
import type { Titles } from '../title.ts'

/** Titles of messages, receipts, approvals and outside effects. */
export const messageTitles: Titles<keyof typeof messageEvents> = {
  'agent.message.created': ({ payload: p }) => [
    p.from.agentId,
    '→',
    p.to.agentId,
    p.messageType,
    p.text ?? p.payload,
  ],
  'message.queued': ({ payload: p }) => [p.to, p.preview],
  'message.delivered': ({ payload: p }) => [p.to, p.stage, p.detail],
  'message.accepted': ({ payload: p }) => [p.to, p.proof, p.detail],
  'message.failed': ({ payload: p }) => [p.to, p.errorType, p.reason ?? p.detail],
  'approval.requested': ({ payload: p }) => [p.subject, p.action],
  'approval.granted': ({ payload: p }) => [p.subject, p.by, p.reason],
  'approval.rejected': ({ payload: p }) => [p.subject, p.by, p.reason],
  'approval.expired': ({ payload: p }) => [p.subject, p.reason],
  'effect.intended': ({ payload: p }) => [p.effect, p.target],
  'effect.done': ({ payload: p }) => [p.effect],
  'effect.unknown': ({ payload: p }) => [p.effect, p.reason],
}
