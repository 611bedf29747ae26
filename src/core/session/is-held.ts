import type { SessionId } from '../../contract/ids.ts'
import type { SessionState } from './state.ts'

const deepest = 64

/** Whether a session must not go on: its budget, or that of one above it, is used up and nobody has raised it. */
export function isHeld(
  from: Readonly<SessionState>,
  find: (id: SessionId) => Readonly<SessionState> | undefined,
): boolean {
  let state: Readonly<SessionState> | undefined = from
  for (let i = 0; state && i < deepest; i++) {
    if (state.asks?.some(({ subject }) => subject === 'budget')) return true
    state = state.parentSessionId && find(state.parentSessionId)
  }
  return false
}
