import { AppError } from '../../contract/errors.ts'
import type { SessionId } from '../../contract/ids.ts'
import type { RestartPlan } from '../../core/session/launch.ts'
import { hasEnded, type SessionState } from '../../core/session/state.ts'
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
  /** Reads what its program wrote while nobody watched; answers the state after it, and whether a turn broke off. */
  caughtUp(state: Readonly<SessionState>): Promise<CaughtUp>
  wayBack(state: Readonly<SessionState>): Promise<RestartPlan>
  /** Its program ended while nobody watched. */
  ended(state: Readonly<SessionState>, pane: PaneInfo): Promise<void>
  resume(state: Readonly<SessionState>): Promise<void>
  /** Its start was never finished. */
  unmade(state: Readonly<SessionState>): Promise<void>
  /** It is gone for good, and why. */
  lost(state: Readonly<SessionState>, why: string): Promise<void>
  /** It has no program now, and stays so until somebody asks for it. */
  left(state: Readonly<SessionState>): Promise<void>
  onBug(error: unknown, sessionId: SessionId): void
}

export type CaughtUp = { readonly state: Readonly<SessionState>; readonly isCutOff: boolean }

/** How far to go: only look, take up what runs and leave the rest, or bring back what can be. */
export type Extent = 'look' | 'take up' | 'bring back'

type Told = Omit<Restored, 'sessionId'>

/** Resuming is mostly waiting for programs and the disk; a few at a time keep the machine answering. */
const atOnce = 4

/** Compares what the journal says with the terminals that are there, and brings back what can be. */
export async function reconcile(
  states: Iterable<Readonly<SessionState>>,
  { panes, extent, cures }: { panes: readonly PaneInfo[]; extent: Extent; cures: Cures },
): Promise<Restored[]> {
  const all = Array.from(states)
  const results: Restored[] = []
  let next = 0
  const work = async (): Promise<void> => {
    for (let at = next++; at < all.length; at = next++) {
      const state = all[at] as Readonly<SessionState>
      const pane = panes.find((one) => isAt(one, state.managed?.place))
      results[at] = { sessionId: state.sessionId, ...(await one(state, { pane, extent, cures })) }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return results
}

type Case = { readonly pane: PaneInfo | undefined; readonly extent: Extent; readonly cures: Cures }

/** Whatever goes wrong with one is told of it; the others are not held up. */
async function one(state: Readonly<SessionState>, { pane, extent, cures }: Case): Promise<Told> {
  try {
    if (!state.managed?.place) {
      if (extent !== 'look') await cures.unmade(state)
      return { result: 'gone', why: 'Muster was stopped while it was being started' }
    }
    // Its end was told between two looks.
    if (hasEnded(state)) return { result: 'gone', why: 'its program ended while nobody watched' }
    if (pane && !pane.isDead) return { result: 'running', why: 'its program never stopped' }
    if (!pane) return await back(state, extent, cures)
    if (extent !== 'look') await cures.ended(state, pane)
    return { result: 'gone', why: 'its program ended while nobody watched' }
  } catch (error) {
    if (!(error instanceof AppError)) cures.onBug(error, state.sessionId)
    return { result: 'gone', why: error instanceof AppError ? error.message : String(error) }
  }
}

/** One that has no terminal any more. */
async function back(before: Readonly<SessionState>, extent: Extent, cures: Cures): Promise<Told> {
  const caught = await cures.caughtUp(before)
  const { state } = caught
  const way = await cures.wayBack(state)
  if (way.kind === 'none') {
    if (extent !== 'look') await cures.lost(state, way.why)
    return { result: 'gone', why: way.why }
  }
  if (extent === 'take up') {
    await cures.left(state)
    return { result: 'needs you', why: 'its terminal is gone; bring it back with: sm restore' }
  }
  // Before it is resumed: that ends what was cut off.
  const told = toldOf(caught, way, extent === 'look' ? 'would be' : 'is')
  if (extent === 'look') return told
  try {
    await cures.resume(state)
  } catch (error) {
    await cures.lost(state, error instanceof AppError ? error.message : String(error))
    throw error
  }
  return told
}

function toldOf({ state, isCutOff }: CaughtUp, way: RestartPlan, is: string): Told {
  if (way.kind === 'anew')
    return { result: 'restored', why: `its prompt never ran; it ${is} started with it again` }
  const wasWorking = isCutOff || [...state.open.values()].some(({ kind }) => kind === 'agent')
  const isUnproved = state.queue?.some(({ by }) => by === 'launch')
  if (wasWorking)
    return {
      result: 'needs you',
      why: `its conversation ${is} back, but its turn was cut off: tell it to go on`,
    }
  return isUnproved
    ? { result: 'needs you', why: `its conversation ${is} back; whether its prompt ran is not known` }
    : { result: 'restored', why: `its conversation ${is} back` }
}
