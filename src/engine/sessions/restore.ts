import { AppError } from '../../contract/errors.ts'
import type { SessionId } from '../../contract/ids.ts'
import { isLastTurnInterrupted } from '../../core/session/evidence/turn.ts'
import type { RestartPlan } from '../../core/session/launch-plan.ts'
import { hasEnded, type SessionState } from '../../core/session/state.ts'
import type { PaneInfo } from '../../ports/terminal.ts'
import { isAt } from './read-screen.ts'
import { findWayBack } from './resume.ts'
import type { Parts } from './session-parts.ts'
import type { Live } from './sessions.ts'
import { sayClosed, sayExited, sayUnmade } from './write-end.ts'

/** A server that dies again so soon is not to be trusted with everything once more. */
const againMs = 60_000

/** Takes up sessions after the daemon, the terminals or the machine went down, and keeps what became of each. */
export class Restore {
  readonly #parts: Parts
  readonly #cures: Cures
  readonly #table = new Map<SessionId, Restored>()
  #work: Promise<unknown> = Promise.resolve()
  #diedAt = Number.NEGATIVE_INFINITY

  constructor(parts: Parts, cures: Cures) {
    this.#parts = parts
    this.#cures = cures
  }

  /** What became of each session, or would become of it. One at a time: two would start one session twice. */
  run(
    extent: Extent,
    signal: AbortSignal,
    open?: readonly Readonly<SessionState>[],
  ): Promise<readonly Restored[]> {
    const done = this.#work.then(() => this.#run(extent, signal, open))
    this.#work = done.catch(() => {})
    return done
  }

  /** When the daemon starts: those that were open then, also when one of them has ended in the meantime. */
  async atStart(open: readonly Readonly<SessionState>[], signal: AbortSignal): Promise<void> {
    await this.run(this.#usual(), signal, open)
  }

  /** When the server of the terminals is gone with all of them. */
  async afterDeath(signal: AbortSignal): Promise<void> {
    const now = this.#parts.clock.monotonic()
    const isAgain = now - this.#diedAt < againMs
    this.#diedAt = now
    await this.run(isAgain ? 'take up' : this.#usual(), signal)
  }

  #usual(): Extent {
    return this.#parts.config().sessions.auto_restore ? 'bring back' : 'take up'
  }

  async #run(
    extent: Extent,
    signal: AbortSignal,
    open?: readonly Readonly<SessionState>[],
  ): Promise<readonly Restored[]> {
    const { engine, terminal } = this.#parts
    const panes = await terminal.panes(signal)
    const results = await reconcile(open ?? openManaged(engine), { panes, extent, cures: this.#cures })
    if (extent === 'look') return results
    for (const result of results)
      if (result.result !== 'running' || !this.#table.has(result.sessionId))
        this.#table.set(result.sessionId, result)
    return [...this.#table.values()]
  }
}

/** Every open session that Muster runs. */
export const openManaged = (engine: Pick<Parts['engine'], 'sessions'>): Readonly<SessionState>[] =>
  Array.from(engine.sessions()).filter((state) => state.managed?.origin === 'managed')

/** What became of a session when the daemon took it up. */
export type Restored = {
  readonly sessionId: SessionId
  readonly result: 'running' | 'restored' | 'needs you' | 'gone'
  readonly why: string
}

/** What can be done about a session whose terminal is not as the journal says. */
type Cures = {
  /** Reads what its program wrote while nobody watched; answers the state after it, and whether a turn broke off. */
  caughtUp(state: Readonly<SessionState>): Promise<CaughtUp>
  wayBack(state: Readonly<SessionState>): Promise<RestartPlan>
  /** Its program ended while nobody watched. */
  ended(state: Readonly<SessionState>, pane: PaneInfo): Promise<void>
  resume(state: Readonly<SessionState>, isCutOff: boolean): Promise<void>
  /** Its start was never finished. */
  unmade(state: Readonly<SessionState>): Promise<void>
  /** It is gone for good, and why. */
  lost(state: Readonly<SessionState>, why: string): Promise<void>
  /** It has no program now, and stays so until somebody asks for it. */
  left(state: Readonly<SessionState>): Promise<void>
  onBug(error: unknown, sessionId: SessionId): void
}

type CaughtUp = { readonly state: Readonly<SessionState>; readonly isCutOff: boolean }

/** How far to go: only look, take up what runs and leave the rest, or bring back what can be. */
type Extent = 'look' | 'take up' | 'bring back'

type Told = Omit<Restored, 'sessionId'>

/** Resuming is mostly waiting for programs and the disk; a few at a time keep the machine answering. */
const atOnce = 4

/** Compares what the journal says with the terminals that are there, and brings back what can be. */
async function reconcile(
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
    if (hasEnded(state)) return { result: 'gone', why: 'its program ended while Muster was not running' }
    if (pane && !pane.isDead) return { result: 'running', why: 'its program never stopped' }
    if (!pane) return await back(state, extent, cures)
    if (extent !== 'look') await cures.ended(state, pane)
    return { result: 'gone', why: 'its program ended while Muster was not running' }
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
    await cures.resume(state, way.kind === 'resume' && wasWorking(caught))
  } catch (error) {
    await cures.lost(state, error instanceof AppError ? error.message : String(error))
    throw error
  }
  return told
}

const wasWorking = ({ state, isCutOff }: CaughtUp): boolean =>
  isCutOff || [...state.open.values()].some(({ kind }) => kind === 'agent')

function toldOf(caught: CaughtUp, way: RestartPlan, is: string): Told {
  const { state } = caught
  if (way.kind === 'anew')
    return { result: 'restored', why: `its prompt never ran; it ${is} started with it again` }
  const isUnproved = state.queue?.some(({ by }) => by === 'launch')
  if (wasWorking(caught))
    return {
      result: 'needs you',
      why: `its conversation ${is} back, but its turn was cut off: tell it to continue`,
    }
  return isUnproved
    ? { result: 'needs you', why: `its conversation ${is} back; whether its prompt ran is not known` }
    : { result: 'restored', why: `its conversation ${is} back` }
}

/** What taking up a session needs of those who follow it. */
type Acts = {
  readonly follow: (state: Readonly<SessionState>) => Live
  readonly resume: (state: Readonly<SessionState>, isCutOff: boolean) => Promise<void>
  /** Ends what is left of it; nobody waits for that. */
  readonly letGo: (live: Live, how: { keepsTerminal?: boolean; isGone?: true }) => void
  /** Ends what is left of it and follows it no more. */
  readonly drop: (live: Live) => Promise<void>
  readonly signal: AbortSignal
}

/** What can be done about sessions that are not as the journal says, by those who follow them. */
export function curesOf(parts: Parts, { follow, resume, letGo, drop, signal }: Acts): Cures {
  const now = () => parts.clock.now()
  return {
    caughtUp: async (state) => {
      const { watch, transcript } = follow(state)
      await transcript.settled()
      return { state: watch.state() ?? state, isCutOff: isLastTurnInterrupted(watch.evidence) }
    },
    wayBack: async (state) => (await findWayBack(parts, state, signal)).way,
    ended: async (state, { exitCode, exitSignal }) => {
      const live = follow(state)
      await sayExited(live, { at: now(), code: exitCode, signal: exitSignal })
      letGo(live, { keepsTerminal: true })
    },
    resume,
    unmade: async (state) => {
      const live = follow(state)
      await sayUnmade(live)
      await drop(live)
    },
    lost: async (state, why) => {
      const live = follow(state)
      await sayClosed(live, { at: now(), why })
      letGo(live, { isGone: true })
    },
    left: (state) => follow(state).watch.take([{ kind: 'exited', source: 'process', at: now() }]),
    onBug: (error, id) => parts.onBug(error, `taking up ${id}`),
  }
}
