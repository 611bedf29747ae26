import type { SessionId } from '../../contract/ids.ts'
import type { SessionState } from './state.ts'

const deepest = 64

/** Why a session must not go on: itself or the first above it whose budget is used up and was not raised. */
export function heldBy(
  from: Readonly<SessionState>,
  find: (id: SessionId) => Readonly<SessionState> | undefined,
): Readonly<SessionState> | undefined {
  let state: Readonly<SessionState> | undefined = from
  for (let i = 0; state && i < deepest; i++) {
    if (state.managed?.isSpent) return state
    state = state.parentSessionId && find(state.parentSessionId)
  }
  return undefined
}
