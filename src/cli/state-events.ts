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
