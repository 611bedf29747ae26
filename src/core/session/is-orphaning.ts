import { hasEnded, type SessionState } from './state.ts'

/** Ends after which nobody is there to look after children, even while the program stands in its terminal. */
const deaths: ReadonlySet<string> = new Set(['error', 'killed', 'cancelled'])

/**
 * Whether the children of a session have lost it. One that completed, or was abandoned itself, is still there for
 * them as long as its program is.
 */
export const isOrphaning = (parent: Readonly<SessionState>, hasProgram: boolean): boolean =>
  hasEnded(parent) && (deaths.has(parent.lifecycle) || !hasProgram)
