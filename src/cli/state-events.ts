import type { EventType } from '../contract/event.ts'

/** The events after which a session may stand differently. */
export const stateEvents = [
  'session.started',
  'session.launched',
  'session.completed',
  'session.failed',
  'session.reopened',
  'session.state.changed',
  'agent.completed',
  'agent.failed',
  'agent.cancelled',
  'agent.killed',
  'agent.abandoned',
  'agent.idle',
  'agent.waiting',
  'approval.requested',
  'approval.granted',
  'approval.rejected',
  'approval.expired',
] as const satisfies readonly EventType[]

/** The events after which `sm events` may have something to tell. */
export const toldEvents = [
  ...stateEvents,
  'session.archived',
  'progress.checkpoint',
  'budget.warning',
  'budget.exceeded',
  'limit.refused',
  'message.failed',
] as const satisfies readonly EventType[]
