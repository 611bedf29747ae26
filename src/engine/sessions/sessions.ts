import type { AgentCliName } from '../../contract/config/names.ts'
import { AppError } from '../../contract/errors.ts'
import { type SessionId, shortId } from '../../contract/ids.ts'
import { type Asker, muster } from '../../contract/principal.ts'
import type { SpawnedView, SpawnRequest } from '../../contract/session-views.ts'
import type { Signal } from '../../contract/signal.ts'
import { Turns } from '../../contract/turns.ts'
import { labelled } from '../../core/messages/message-text.ts'
import { hasEnded, type SessionState } from '../../core/session/state.ts'
import type { HookReply } from '../../ports/agent-cli.ts'
import type { Kin } from '../../ports/processes.ts'
import type { TerminalEvent } from '../../ports/terminal.ts'
import { abandonOrphans } from './adopt.ts'
import { Approvals } from './approvals.ts'
import { Delivery, type Sent } from './deliver.ts'
import { askedBy, draftOf } from './drafts.ts'
import { Families } from './families.ts'
import { answerHook } from './hooks.ts'
import { Lifecycle } from './lifecycle.ts'
import { type PollFault, Polling } from './polling.ts'
import { isAt, readScreen } from './read-screen.ts'
import { curesOf, openManaged, Restore, type Restored } from './restore.ts'
import { relaunch } from './resume.ts'
import { SessionEnds } from './session-ends.ts'
import { undoTraps } from './session-isolation.ts'
import type { Parts } from './session-parts.ts'
import { SessionWatch } from './session-watch.ts'
import { type Rate, type Spawner, spawn } from './spawn.ts'
import { clear, sweep } from './sweep.ts'
import { TranscriptFollower } from './transcript.ts'
import { type Interrupt, notInterrupted } from './typing-box.ts'
import { completing, type Said, sayUnknownEffects } from './write-end.ts'

/** A session that is followed: its state, its messages, its record. */
export type Live = {
  readonly watch: SessionWatch
  readonly delivery: Delivery
  readonly transcript: TranscriptFollower
}

/** All sessions that Muster runs: starts them, follows them, and ends them. */
export class Sessions {
  readonly approvals: Approvals
  readonly ends: SessionEnds
  readonly #parts: Parts
  readonly #live = new Map<SessionId, Live>()
  /** Those whose screen is looked at again before the next round. */
  readonly #lookingAgain = new WeakSet<SessionWatch>()
  readonly #polling: Polling<Live>
  readonly #families: Families
  readonly #rate: Rate = { times: [] }
  /** Starts, ends and resumes under way: what comes next for the same session waits for them. */
  readonly #turns = new Turns<SessionId>()
  readonly #stopped = new AbortController()
  readonly #restore: Restore
  #isStarted = false
  #unlisten: () => void = () => {}

  constructor(parts: Parts) {
    this.#parts = parts
    this.approvals = new Approvals(parts, this)
    this.#families = new Families(parts)
    this.ends = new SessionEnds(parts, {
      live: this.#live,
      turns: this.#turns,
      interrupt: (live) => this.interrupt(live),
      isRunning: (id) => this.isRunning(id),
      abandonOrphans: () => this.abandonOrphans(),
      kinOf: (id) => this.kinOf(id),
      stopped: this.#stopped.signal,
    })
    this.#polling = new Polling({
      parts,
      live: this.#live,
      lifecycle: new Lifecycle(parts),
      look: (watch) => this.#look(watch),
      interrupt: (live) => this.interrupt(live),
      undoTraps: (watch) => undoTraps(parts, watch),
      remember: (signal) => this.#families.look(this.#live.values(), signal),
    })
    this.#restore = new Restore(
      parts,
      curesOf(parts, {
        follow: (state) => this.follow(state),
        resume: (state, isCutOff) =>
          this.#turns.take(state.sessionId, () =>
            this.#resume(state, { by: muster, isCutOff }, this.#stopped.signal),
          ),
        letGo: (live, how) => this.#unwatched(this.ends.letGo(live, how), 'what is left of a session'),
        drop: async (live) => {
          await this.ends.letGo(live, { force: true })
          await this.ends.forget(live)
        },
        signal: this.#stopped.signal,
      }),
    )
  }

  /** Takes up every session that is open, and listens to the terminals. */
  async start(): Promise<void> {
    const open = openManaged(this.#parts.engine)
    this.#unlisten = this.#parts.terminal.listen((event) => {
      this.#onTerminal(event).catch((error: unknown) => this.#parts.onBug(error, 'terminal event'))
    })
    const panes = await this.#parts.terminal.panes(this.#stopped.signal)
    for (const state of open)
      if (!hasEnded(state)) {
        const { watch } = this.follow(state)
        await Promise.all([this.approvals.dropStale(watch), sayUnknownEffects(watch)]).catch(
          (error: unknown) => this.#parts.onBug(error, `what was left open of ${state.sessionId}`),
        )
      }
    const following = {
      ids: () => new Set(this.#live.keys()),
      follow: (state: Readonly<SessionState>) => this.follow(state),
    }
    const endStrays = await sweep(this.#parts, { panes, following }, this.#stopped.signal)
    this.#unwatched(endStrays(), 'what a killed daemon left')
    await this.#restore.atStart(open, this.#stopped.signal)
    this.#isStarted = true
    await this.abandonOrphans().catch((error: unknown) => this.#parts.onBug(error, 'orphans'))
    this.#unwatched(this.#polling.run(this.#stopped.signal), 'polling sessions')
  }

  /** Brings back what went down and can come back, or only says what would become of each session. */
  restore(isDry: boolean, signal: AbortSignal): Promise<readonly Restored[]> {
    return this.#restore.run(isDry ? 'look' : 'bring back', signal)
  }

  /** Marks the sessions whose parent died without ending them. */
  async abandonOrphans(): Promise<void> {
    // Until every session is taken up it is not known which parents are there.
    if (this.#isStarted) await abandonOrphans(this.#parts, (id) => this.isRunning(id))
  }

  /** Brings back the program of a session that has none. */
  resume(state: Readonly<SessionState>, by: Asker, signal: AbortSignal): Promise<void> {
    return this.#turns.take(state.sessionId, () => this.#resume(state, { by }, signal))
  }

  async #resume(
    state: Readonly<SessionState>,
    { by, isCutOff }: { readonly by: Asker; readonly isCutOff?: boolean },
    signal: AbortSignal,
  ): Promise<void> {
    const panes = await this.#parts.terminal.panes(signal)
    if (panes.some((pane) => isAt(pane, state.managed?.place) && !pane.isDead))
      throw new AppError('conflict', 'its program is running; see: sm attach')
    const wasFollowed = this.#live.has(state.sessionId)
    const live = this.follow(state)
    const wasWorking = [...state.open.values()].some(({ kind }) => kind === 'agent')
    try {
      await relaunch(this.#parts, { state, root: live.watch.root, by }, signal)
    } catch (error) {
      // What cannot be started again would be shown as running from now on.
      if (!wasFollowed && this.#live.delete(state.sessionId)) await leave(live)
      throw error
    }
    this.#live.delete(state.sessionId)
    await leave(live)
    const now = this.#parts.engine.session(state.sessionId)
    const watch = now && this.follow(now).watch
    // Nobody asked for it to be started again, so nobody knows yet that its turn is lost.
    if (isCutOff) await watch?.breakOff('it was cut off when its terminal went away; tell it to continue')
    // The record shows a prompt without an end: nobody works on it any more.
    else if (wasWorking)
      await watch?.take([{ kind: 'interrupted', source: 'process', at: this.#parts.clock.now() }])
  }

  async stop(): Promise<void> {
    this.#stopped.abort()
    this.#unlisten()
    this.approvals.stop()
    for (const live of this.#live.values()) await leave(live)
  }

  get(id: SessionId): Live | undefined {
    return this.#live.get(id)
  }

  /** Whether its program is there, also of a session that said it is done. */
  isRunning(id: SessionId): boolean {
    const live = this.#live.get(id)
    return live !== undefined && live.watch.evidence.last.exited === undefined
  }

  /** What was seen to belong to its program. */
  kinOf(id: SessionId): Kin {
    return this.#families.of(id)
  }

  all(): IterableIterator<Live> {
    return this.#live.values()
  }

  /** What keeps failing in the polling of sessions. */
  faults(): readonly PollFault[] {
    return this.#polling.faults()
  }

  /** Follows a session that is there; the same one only once. */
  follow(state: Readonly<SessionState>): Live {
    const known = this.#live.get(state.sessionId)
    if (known) return known
    const watch = new SessionWatch(this.#parts, state as SessionState, {
      changed: (watched) => {
        this.ends.reopened(watched)
        this.#live.get(watched.id)?.delivery.poke()
        this.approvals
          .dropAnswered(watched)
          .catch((error: unknown) => this.#parts.onBug(error, 'answered questions'))
      },
      lookAt: (watched) => {
        this.#look(watched).catch((error: unknown) => this.#parts.onBug(error, 'looking at a terminal'))
      },
    })
    const transcript = new TranscriptFollower(this.#parts, watch)
    const live = { watch, transcript, delivery: new Delivery(this.#parts, watch, transcript) }
    this.#live.set(state.sessionId, live)
    live.transcript.poke()
    live.delivery.poke()
    const ended = this.ends.early(state.managed?.place)
    if (ended) this.#unwatched(this.#onTerminal(ended), 'the end of a terminal')
    return live
  }

  async spawn(request: SpawnRequest, by: Spawner, signal: AbortSignal): Promise<SpawnedView> {
    const launching = <T>(id: SessionId, start: () => Promise<T>) => this.#turns.take(id, start)
    const view = await spawn(this.#parts, request, { by, rate: this.#rate, launching, signal })
    const state = this.#parts.engine.session(view.id)
    if (state && !view.dry_run) this.follow(state)
    return view
  }

  /** Queues a message; it goes when the mode allows it. */
  async send(live: Live, { text, mode, from, by = muster.by, ...named }: Sent): Promise<string> {
    const { watch } = live
    const state = this.#withProgram(watch)
    const { messageId = `msg_${this.#parts.ids.event().slice(4)}` } = named
    const words = labelled(text, from)
    const vault = await this.#parts.vault.put(new TextEncoder().encode(words), watch.root.runId)
    const root = { ...watch.root, by }
    const span = { spanId: this.#parts.ids.span(), parentSpanId: root.spanId }
    const reopened = hasEnded(state) ? [draftOf(root, 'session.reopened', { by: from })] : []
    await watch.say([
      ...reopened,
      draftOf({ ...root, ...span }, 'message.queued', {
        messageId,
        mode,
        vault,
        from,
        preview: words.slice(0, 2000),
      }),
    ])
    live.delivery.poke()
    return messageId
  }

  /** A hook, plugin or status line of a CLI reports; the answer is in that CLI's words. */
  hook(
    live: Live,
    report: { readonly cli: AgentCliName; readonly payload: unknown; readonly at: number },
    gone: AbortSignal,
  ): Promise<HookReply> {
    return answerHook({ parts: this.#parts, live, approvals: this.approvals }, report, gone)
  }

  /** Presses what interrupts this CLI; what proves that its turn ended is a sign of that itself. */
  async interrupt({ watch, delivery }: Live): Promise<Interrupt> {
    if (!this.#withProgram(watch).managed?.place)
      throw new AppError('conflict', 'the session has no terminal; see: sm explain')
    await this.#look(watch)
    const how = await delivery.interrupt()
    await this.#look(watch)
    // Some CLIs say nothing of a turn that was interrupted before its answer began.
    if (how === 'screen')
      await watch.take([{ kind: 'interrupted', source: 'pane', at: this.#parts.clock.now() }])
    return how
  }

  /** The same for somebody who asked for it, with their intention and its receipt; without proof it is refused. */
  async interruptFor(live: Live, by: Asker): Promise<void> {
    const { watch } = live
    const state = watch.state()
    const interrupt = async (): Promise<Interrupt> => {
      const how = await this.interrupt(live)
      if (how === 'nothing' || how === 'unproved') throw notInterrupted(how, watch)
      return how
    }
    if (!state || hasEnded(state)) return void (await interrupt())
    const effect = { effectId: `interrupt:${this.#parts.ids.event()}`, effect: 'interrupt' }
    const at = { ...watch.root, spanId: this.#parts.ids.span(), parentSpanId: watch.root.spanId }
    await watch.say([draftOf(askedBy(at, by), 'effect.intended', effect)])
    const [receipt, error] = await interrupt().then(
      (proof) => [{ proof }, undefined] as const,
      (failure: unknown) => {
        const why = failure instanceof Error ? failure.message : 'no key was pressed'
        return [{ error: why }, failure] as const
      },
    )
    await watch.say([draftOf(at, 'effect.done', { ...effect, receipt })]).catch(onlyEnded)
    if (error !== undefined) throw error
  }

  /** Nothing reaches a program that is dead, and nothing that was meant for it may make it look alive. */
  #withProgram(watch: SessionWatch): SessionState {
    const state = watch.state()
    if (!state) throw new AppError('not_found', 'the session is no longer known')
    if (this.isRunning(watch.id)) return state
    const short = shortId(watch.id)
    const name = state.managed?.name ?? short
    throw new AppError('conflict', `${name} has no running program; start it again with: sm resume ${short}`)
  }

  /** A session that is there to be acted on, once what is under way with it is done. */
  async settled(id: SessionId): Promise<Live | undefined> {
    await this.#turns.settled(id)
    const state = this.#parts.engine.session(id)
    // One whose start has just ended is not followed yet by who started it.
    if (state?.managed?.place && !hasEnded(state)) return this.follow(state)
    return this.#live.get(id)
  }

  /** Ends what is left of sessions that nobody follows; answers which had something. */
  clear(isWanted: (id: SessionId) => boolean): Promise<readonly SessionId[]> {
    return clear(this.#parts, (id) => isWanted(id) && !this.#live.has(id), this.#stopped.signal)
  }

  /** What the agent or its parent says of its end. */
  async complete({ watch, transcript }: Live, said: Said): Promise<void> {
    await transcript.settled()
    await watch.say(completing(watch, said))
  }

  /** Nobody waits for it; what goes wrong with it is told all the same. */
  #unwatched(work: Promise<unknown>, what: string): void {
    work.catch((error: unknown) => this.#stopped.signal.aborted || this.#parts.onBug(error, what))
  }

  async #onTerminal(event: TerminalEvent): Promise<void> {
    if (!(await this.ends.onTerminal(event))) return
    if (event.kind === 'died') await this.#restore.afterDeath(this.#stopped.signal)
    await this.abandonOrphans()
  }

  /** The next round would come too late: what is shown of it meanwhile may be wrong. */
  #lookAgain(watch: SessionWatch, inMs: number): void {
    if (this.#lookingAgain.has(watch)) return
    this.#lookingAgain.add(watch)
    const again = async () => {
      await this.#parts.clock.sleep(inMs, this.#stopped.signal)
      this.#lookingAgain.delete(watch)
      if (this.#live.get(watch.id)?.watch === watch) await this.#look(watch)
    }
    this.#unwatched(again(), 'looking at a terminal again')
  }

  async #look(watch: SessionWatch): Promise<void> {
    try {
      const seen = await readScreen(this.#parts, watch, this.#stopped.signal)
      if (!seen) return
      const { reading } = seen
      const shown: Signal = { kind: 'screen', source: 'pane', at: this.#parts.clock.now(), reading }
      await watch.take(seen.isMute ? [] : [shown])
      this.approvals.notice(watch, reading.dialog)
      if (seen.againMs !== undefined) this.#lookAgain(watch, seen.againMs)
    } catch (error) {
      // A terminal that has just gone is told of by its own event.
      if (!(error instanceof AppError) && !this.#stopped.signal.aborted) throw error
    }
  }
}

// It ended meanwhile, and its end closed what was open in it.
function onlyEnded(error: unknown): void {
  if (!(error instanceof AppError && error.code === 'conflict')) throw error
}

async function leave({ watch, delivery, transcript }: Live): Promise<void> {
  watch.stop()
  await delivery.stop()
  await transcript.stop()
}
