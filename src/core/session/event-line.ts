import type { AgentEvent, EventType } from '../../contract/event.ts'
import { shortId } from '../../contract/ids.ts'
import type { SessionRow } from '../../contract/index-rows.ts'
import type { SessionEventView } from '../../contract/session-views.ts'
import type { BlobRef } from '../../contract/values.ts'

/** The types that `sm events` shows; a turn of an agent is no event of its session. */
export const sessionEventTypes = [
  'session.started',
  'session.completed',
  'session.failed',
  'session.reopened',
  'session.launched',
  'session.archived',
  'agent.idle',
  'agent.waiting',
  'progress.checkpoint',
  'approval.requested',
  'approval.granted',
  'approval.rejected',
  'approval.expired',
  'budget.warning',
  'budget.exceeded',
  'limit.refused',
  'message.failed',
] as const satisfies readonly EventType[]

type Told = Pick<SessionEventView, 'event_type' | 'message' | 'metadata'>

/** One line of `sm events`: what happened, said of a child by its id. */
export function eventLine(
  event: AgentEvent,
  row: SessionRow | undefined,
  isChild: boolean,
): Told | undefined {
  const short = shortId(event.sessionId)
  const name = row?.friendlyName ?? row?.name ?? short
  const who = isChild ? `Child ${short}` : name
  const tell = (event_type: string, message: string, metadata: Told['metadata'] = null): Told => ({
    event_type,
    message,
    metadata,
  })
  const quoted = (text: string | BlobRef | undefined) => (text === undefined ? '' : ` - "${firstLine(text)}"`)
  switch (event.type) {
    case 'session.started':
      return tell('spawned', isChild ? `Child ${name} (${short}) started` : `${name} started`, {
        agent_type: event.payload.agent?.agentType ?? null,
      })
    case 'session.completed':
      return tell(
        event.payload.outcome,
        `${who} ${event.payload.outcome}${quoted(event.payload.message ?? event.payload.reason)}`,
      )
    case 'session.failed':
      return tell(
        'error',
        `${who} failed${quoted(event.payload.message ?? event.payload.error ?? event.payload.reason)}`,
      )
    case 'session.reopened':
      return tell('reopened', `${who} goes on`)
    case 'session.launched':
      return event.payload.isResumed
        ? tell('resumed', `${who} runs again in ${event.payload.tmuxSession}`)
        : undefined
    case 'session.archived':
      return tell('archived', `${who}: transcript kept in ${event.payload.path}`)
    case 'agent.idle':
      return tell('idle', `${who} idle for ${duration(event.payload.idleMs ?? 0)}`)
    case 'agent.waiting':
      return tell('waiting', `${who} waits for ${event.payload.waitsFor}${quoted(event.payload.question)}`)
    case 'progress.checkpoint':
      return tell('checkpoint', `${who}${quoted(event.payload.message)}`, event.payload.metadata ?? null)
    case 'approval.requested':
      return tell('approval', `${who} asks${quoted(event.payload.action)}`, {
        approval_id: event.payload.approvalId,
      })
    case 'approval.granted':
      return tell('approved', `${who} was allowed by ${event.payload.by}`, {
        approval_id: event.payload.approvalId,
      })
    case 'approval.rejected':
      return tell('rejected', `${who} was refused by ${event.payload.by}${quoted(event.payload.reason)}`, {
        approval_id: event.payload.approvalId,
      })
    case 'approval.expired':
      return tell('expired', `${who}: a question lapsed${quoted(event.payload.reason)}`, {
        approval_id: event.payload.approvalId,
      })
    case 'budget.warning':
    case 'budget.exceeded':
      return tell(
        'budget',
        `${who}: ${event.payload.used} of ${event.payload.limit} ${event.payload.budget} used`,
      )
    case 'limit.refused':
      return tell(
        'refused',
        `${who}: ${event.payload.what} (${event.payload.current} of ${event.payload.max})`,
      )
    case 'message.failed':
      return tell('undelivered', `${who}: a message was not delivered${quoted(event.payload.reason)}`, {
        message_id: event.payload.messageId,
      })
    default:
      return undefined
  }
}

/** Whole minutes, or seconds below one. */
function duration(ms: number): string {
  const minutes = Math.floor(ms / 60_000)
  if (minutes === 0) return `${Math.round(ms / 1000)} seconds`
  return minutes === 1 ? '1 minute' : `${minutes} minutes`
}

function firstLine(text: string | BlobRef): string {
  const whole = typeof text === 'string' ? text : text.preview
  return (whole.trim().split('\n', 1)[0] ?? '').slice(0, 300)
}
