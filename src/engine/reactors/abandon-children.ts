import type { EventType } from '../../contract/event.ts'
import type { Reactor } from '../react.ts'

const ends = new Set<EventType>(['session.completed', 'session.failed'])

/** After the end of a session its children may have lost their parent; what is true now is looked up, so a repeat does nothing. */
export const abandonChildren = (abandon: () => Promise<void>): Reactor => ({
  name: 'abandon-children',
  types: ends,
  react: abandon,
})
