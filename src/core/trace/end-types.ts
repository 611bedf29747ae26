import type { EventType } from '../../contract/event.ts'

/** How a run can end. */
export const agentEnds = [
  'agent.completed',
  'agent.failed',
  'agent.cancelled',
  'agent.killed',
  'agent.abandoned',
] as const satisfies readonly EventType[]

/** How a run or a session can end. */
export const ends = [
  ...agentEnds,
  'session.completed',
  'session.failed',
] as const satisfies readonly EventType[]
