import { AppError } from '../../contract/errors.ts'
import type { SessionId } from '../../contract/ids.ts'
import type { SessionState } from '../../core/session/state.ts'
import type { PaneInfo } from '../../ports/terminal.ts'
import { isAt } from './place.ts'

/** What became of a session when the daemon took it up. */
export type Restored = {
  readonly sessionId: SessionId
  readonly result: 'running' | 'restored' | 'needs you' | 'gone'
  readonly why: string
}

/** What can be done about a session whose terminal is not as the journal says. */
export type Cures = {
  /** Its program ended while nobody watched. */
  ended(state: Readonly<SessionState>, pane: PaneInfo): Promise<void>
  resume(state: Readonly<SessionState>): Promise<void>
  /** It is gone for good. */
  lost(state: Readonly<SessionState>): Promise<void>
}

/** Compares what the journal says with the terminals that are there, and brings back what can be. */
export async function reconcile(
  states: Iterable<Readonly<SessionState>>,
  panes: readonly PaneInfo[],
  cures: Cures,
): Promise<Restored[]> {
  const results: Restored[] = []
  for (const state of states) {
    const pane = panes.find((one) => isAt(one, state.managed?.place))
    const { result, why } = await one(state, pane, cures)
    results.push({ sessionId: state.sessionId, result, why })
  }
  return results
}

async function one(
  state: Readonly<SessionState>,
  pane: PaneInfo | undefined,
  cures: Cures,
): Promise<Omit<Restored, 'sessionId'>> {
  if (pane && !pane.isDead) return { result: 'running', why: 'its program never stopped' }
  if (pane) {
    await cures.ended(state, pane)
    return { result: 'gone', why: 'its program ended while nobody watched' }
  }
  const wasWorking = [...state.open.values()].some(({ kind }) => kind === 'agent')
  try {
    await cures.resume(state)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    await cures.lost(state)
    return { result: 'gone', why: error.message }
  }
  return wasWorking
    ? { result: 'needs you', why: 'its conversation is back, but its turn was cut off: tell it to go on' }
    : { result: 'restored', why: 'its conversation is back' }
}
