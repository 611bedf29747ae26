import type { Draft } from '../../contract/event.ts'
import { decide } from './decide.ts'
import { evolve, type SessionState } from './state.ts'

/** Tries the whole life of one new session without writing anything; throws what the first refused event would meet. */
export function tryWhole(drafts: readonly Draft[]): void {
  let state: SessionState | undefined
  for (const draft of drafts)
    for (const one of decide(state, draft)) state = evolve(state, one, one.timestamp ?? '')
}
