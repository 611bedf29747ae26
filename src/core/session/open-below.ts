import type { SessionId } from '../../contract/ids.ts'
import type { SessionState } from './state.ts'

/** How many open children each parent has. */
export function openBelow(open: Iterable<Readonly<SessionState>>): ReadonlyMap<SessionId, number> {
  const counts = new Map<SessionId, number>()
  for (const { parentSessionId } of open)
    if (parentSessionId) counts.set(parentSessionId, (counts.get(parentSessionId) ?? 0) + 1)
  return counts
}
