import { AppError } from '../../contract/errors.ts'
import { type SessionId, shortId } from '../../contract/ids.ts'
import type { Asker } from '../../contract/principal.ts'
import type { Turns } from '../../contract/turns.ts'
import type { TerminalPlace } from '../../core/session/managed.ts'
import { hasEnded } from '../../core/session/state.ts'
import type { Kin } from '../../ports/processes.ts'
import type { TerminalEvent } from '../../ports/terminal.ts'
import { askedBy, draftOf } from './drafts.ts'
import { release } from './launch.ts'
import { modeOf } from './lifecycle.ts'
import { paneOf } from './read-screen.ts'
import { undoTraps } from './session-isolation.ts'
import type { Parts } from './session-parts.ts'
import type { SessionWatch } from './session-watch.ts'
import type { Live } from './sessions.ts'
import { sayClosed, sayExited } from './write-end.ts'

/** What the ends of sessions need of those who run. */
type Running = {
  readonly live: Map<SessionId, Live>
  readonly turns: Turns<SessionId>
  readonly interrupt: (live: Live) => Promise<unknown>
  readonly isRunning: (id: SessionId) => boolean
  readonly abandonOrphans: () => Promise<void>
  readonly kinOf: (id: SessionId) => Kin
  /** Aborted when the daemon stops. */
  readonly stopped: AbortSignal
}

/** Ends terminal sessions: by a person's word, by configuration, or because a terminal went away. */
export class SessionEnds {
  readonly #parts: Parts
  readonly #running: Running
  readonly #afterEnd: AfterEnd
  readonly #early = new EarlyEnds()

  constructor(parts: Parts, running: Running) {
    this.#parts = parts
    this.#running = running
    this.#afterEnd = new AfterEnd(parts)
  }

  /** It works again: its next end is another one. */
  reopened(watch: SessionWatch): void {
    this.#afterEnd.reopened(watch)
  }

  /** The end of the terminal at this place that came before anybody followed it. */
  early(place: TerminalPlace | undefined): TerminalEvent | undefined {
    return this.#early.of(place)
  }

  /** Writes the end of a session and begins to end its program; answers, later, processes that would not die. */
  async kill(
    live: Live,
    { force, reason, by }: { force: boolean; reason?: string | undefined; by: Asker },
  ): Promise<{ readonly done: Promise<readonly number[]> }> {
    const { watch } = live
    const state = watch.state()
    if (!state?.managed) return { done: Promise.resolve([]) }
    if (!force && state.managed.place && !hasEnded(state)) await this.#interruptBriefly(live)
    // Its end is written before its program goes: what the terminal tells of it then is no crash.
    await watch.end(
      draftOf(askedBy(watch.root, by), 'session.completed', {
        outcome: 'killed',
        reason: reason ?? `by ${by.name}`,
      }),
    )
    const until = this.#running.stopped
    await this.#afterEnd.archive(live, until)
    const done = this.letGo(live, { force }).then(async (left) => {
      // A program writes the last of its record while it ends.
      await live.transcript.settled()
      if (left.length === 0) await this.#afterEnd.removeWorktree(watch, until)
      await this.forget(live)
      return left
    })
    done.catch(() => {})
    return { done }
  }

  /** After a session's end: keeps its transcript, and ends what the configuration says should not stay. */
  async tidy(id: SessionId, signal: AbortSignal): Promise<void> {
    const live = this.#running.live.get(id)
    if (!live) return
    await this.#afterEnd.archive(live, signal)
    const { watch } = live
    const state = watch.state()
    if (!state || !hasEnded(state) || modeOf(this.#parts, state) === 'manual') return
    const { cleanup } = this.#parts.config().child_agents
    if (cleanup.auto_kill_on_complete || cleanup.close_tmux_session) await this.terminate(live)
    else if (watch.evidence.last.exited) await this.#afterEnd.removeWorktree(watch, signal)
  }

  /** Ends the program of a session that has ended; its terminal goes too when the configuration says so. */
  async terminate(live: Live): Promise<void> {
    const keepsTerminal = !this.#parts.config().child_agents.cleanup.close_tmux_session
    const left = await this.letGo(live, { keepsTerminal })
    if (left.length === 0) await this.#afterEnd.removeWorktree(live.watch, this.#running.stopped)
    await this.forget(live)
    await this.#running.abandonOrphans()
  }

  /** Not under a caller's signal: what has begun to end must not be left half-way because somebody hung up. */
  letGo({ watch }: Live, how: { force?: boolean; keepsTerminal?: boolean; isGone?: true }) {
    const { isGone, ...rest } = how
    return this.#running.turns.take(watch.id, async () => {
      const place = watch.state()?.managed?.place
      // Pids of another run of the server may be those of strangers by now.
      const isKnown = place?.serverId === this.#parts.terminal.server()
      const isRunning = !isGone && this.#running.isRunning(watch.id)
      const started = { pid: place?.pid ?? 0, startedAtMs: place?.pidStartedMs }
      const program = place && isKnown ? { ...started, pane: paneOf(place), isRunning } : undefined
      const released = { sessionId: watch.id, program, kin: this.#running.kinOf(watch.id), ...rest }
      const left = await release(this.#parts, released, this.#running.stopped)
      await undoTraps(this.#parts, watch)
      return left
    })
  }

  /** Writes the end of each session whose terminal ended; false for an event that ends nothing. */
  async onTerminal(event: TerminalEvent): Promise<boolean> {
    if (event.kind !== 'exited' && event.kind !== 'closed' && event.kind !== 'died') return false
    const at = this.#parts.clock.now()
    const isMeant = ({ watch }: Live): boolean => isEndOf(event, watch.state()?.managed?.place)
    const meant = Array.from(this.#running.live.values()).filter(isMeant)
    if (event.kind !== 'died' && meant.length === 0) this.#early.note(event)
    // A server that died took all of them along: what fails for one must not leave the others waiting.
    for (const live of meant)
      await this.#tellEnd(live, { event, at, isMeant }).catch((error: unknown) =>
        this.#parts.onBug(error, `the end of the terminal of ${live.watch.id}`),
      )
    return true
  }

  async #tellEnd(
    live: Live,
    { event, at, isMeant }: { event: TerminalEvent; at: number; isMeant: (live: Live) => boolean },
  ): Promise<void> {
    await this.#running.turns.settled(live.watch.id)
    // It may have been resumed in another terminal meanwhile, or be gone.
    if (!isMeant(live) || this.#running.live.get(live.watch.id) !== live) return
    if (event.kind === 'exited') {
      await sayExited(live, { at, code: event.code, signal: event.signal })
      await this.letGo(live, { keepsTerminal: true })
    } else if (event.kind === 'closed') {
      await sayClosed(live, { at, why: 'its terminal was closed from outside' })
      await this.letGo(live, { isGone: true })
    } else await live.watch.take([{ kind: 'exited', source: 'process', at }])
  }

  async #interruptBriefly(live: Live): Promise<void> {
    const over = this.#running.interrupt(live).catch((error: unknown) => {
      if (!(error instanceof AppError)) this.#parts.onBug(error, 'interrupt')
    })
    await Promise.race([over, this.#parts.clock.sleep(1500, this.#running.stopped).catch(() => {})])
  }

  /** Follows it no more. */
  async forget({ watch, delivery, transcript }: Live): Promise<void> {
    this.#running.live.delete(watch.id)
    watch.stop()
    await delivery.stop()
    await transcript.stop()
  }
}

type End = Extract<TerminalEvent, { kind: 'exited' | 'closed' }>

type Died = Extract<TerminalEvent, { kind: 'died' }>

/** Terminals of others end as well: only so many of the last are remembered. */
const keptEnds = 256

/** Ends of terminals that nobody followed yet: a program may end sooner than its start is written down. */
class EarlyEnds {
  readonly #ends: End[] = []

  note(end: End): void {
    this.#ends.push(end)
    if (this.#ends.length > keptEnds) this.#ends.shift()
  }

  /** The end of the terminal at this place, when there was one. */
  of(place: TerminalPlace | undefined): End | undefined {
    return this.#ends.find((end) => isEndOf(end, place))
  }
}

/** Whether a terminal that ended, alone or with its whole server, is the one at this place. */
function isEndOf(end: End | Died, place: TerminalPlace | undefined): boolean {
  if (place?.serverId !== end.server) return false
  if (end.kind === 'died') return true
  return end.kind === 'exited' ? end.pane === place.paneId : end.session === place.terminalId
}

/** What is done for a session that has ended: its transcript is kept, its program and its work tree may go. */
class AfterEnd {
  readonly #parts: Parts
  readonly #archived = new WeakSet<SessionWatch>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** It works again: its next end is another one. */
  reopened(watch: SessionWatch): void {
    const state = watch.state()
    if (state && !hasEnded(state)) this.#archived.delete(watch)
  }

  /** Keeps the transcript, once for each end. */
  async archive({ watch, transcript }: Live, signal: AbortSignal): Promise<void> {
    const { auto_archive_transcript } = this.#parts.config().child_agents.cleanup
    if (!auto_archive_transcript || this.#archived.has(watch)) return
    this.#archived.add(watch)
    await transcript.settled()
    const kept = await this.#parts.archive.keep(shortId(watch.id), transcript.paths(), signal)
    if (kept) await this.#parts.engine.record([draftOf(watch.root, 'session.archived', kept)])
  }

  /** Removes its work tree when nothing would be lost with it: all is committed, and on another branch too. */
  async removeWorktree(watch: SessionWatch, signal: AbortSignal): Promise<void> {
    const { worktree, isolation } = watch.state()?.managed ?? {}
    // Git runs what a repository tells it to, and behind walls the agent may have told it anything.
    if (!worktree || isolation || !(await this.#parts.workspace.removeWorktree(worktree, signal))) return
    await this.#parts.engine.record([
      draftOf(watch.root, 'session.updated', { worktree: null, by: 'muster' }),
    ])
  }
}
