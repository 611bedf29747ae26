import type { AgentEvent, EventType } from '../../contract/event.ts'
import type { Reactor } from '../react.ts'

const ends = new Set<EventType>(['session.completed', 'session.failed'])

/** After the end of a session: its transcript is kept and what runs on is ended, as the configuration says. */
export const tidySession = (
  tidy: (id: AgentEvent['sessionId'], signal: AbortSignal) => Promise<void>,
): Reactor => ({
  name: 'tidy-session',
  types: ends,
  react: (event, signal) => tidy(event.sessionId, signal),
})
