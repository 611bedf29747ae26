import { isLastTurnInterrupted } from '../../core/session/evidence/turn.ts'
import type { SessionState } from '../../core/session/state.ts'
import { findWayBack } from './find-way-back.ts'
import type { Parts } from './parts.ts'
import type { Cures } from './reconcile.ts'
import { sayClosed, sayExited, sayUnmade } from './say-end.ts'
import type { Live } from './sessions.ts'

/** What taking up a session needs of those who follow it. */
export type Acts = {
  readonly follow: (state: Readonly<SessionState>) => Live
  readonly resume: (state: Readonly<SessionState>) => Promise<void>
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
