import type { TerminalPlace } from '../../core/session/managed.ts'
import type { TerminalEvent } from '../../ports/terminal.ts'

type End = Extract<TerminalEvent, { kind: 'exited' | 'closed' }>

type Died = Extract<TerminalEvent, { kind: 'died' }>

/** Terminals of others end as well: only so many of the last are remembered. */
const most = 256

/** Ends of terminals that nobody followed yet: a program may end sooner than its start is written down. */
export class EarlyEnds {
  readonly #ends: End[] = []

  note(end: End): void {
    this.#ends.push(end)
    if (this.#ends.length > most) this.#ends.shift()
  }

  /** The end of the terminal at this place, when there was one. */
  of(place: TerminalPlace | undefined): End | undefined {
    return this.#ends.find((end) => isEndOf(end, place))
  }
}

/** Whether a terminal that ended, alone or with its whole server, is the one at this place. */
export function isEndOf(end: End | Died, place: TerminalPlace | undefined): boolean {
  if (place?.serverId !== end.server) return false
  if (end.kind === 'died') return true
  return end.kind === 'exited' ? end.pane === place.paneId : end.session === place.terminalId
}
