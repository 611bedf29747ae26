import { agentClis } from '../../contract/agent-clis.ts'
import type { AgentCliName } from '../../contract/config/names.ts'
import type { By, Draft, ProducerStamp } from '../../contract/event.ts'
import type { SessionId } from '../../contract/ids.ts'
import type { Signal, SignalOf } from '../../contract/signal.ts'
import type { Lifecycle } from '../../contract/values.ts'
import type { Fleet } from '../../core/fleet.ts'
import { byDaemon } from '../../core/reports.ts'
import { type Evidence, noEvidence } from '../../core/session/evidence/evidence.ts'
import { observe } from '../../core/session/evidence/observe.ts'
import { judge, type Verdict } from '../../core/session/evidence/verdict.ts'
import { hasEnded, type SessionState } from '../../core/session/state.ts'
import type { Appended } from '../engine.ts'
import type { Root } from './drafts.ts'
import type { Parts } from './session-parts.ts'
import { type Refusal, SessionTurns } from './session-turns.ts'
import { changedState, TakenTexts } from './turn-memory.ts'

const soonestMs = 50
const latestMs = 60_000

/**
 * Who told signals and as which of theirs; what was taken once is not taken again, over a restart too. A record is read
 * from its beginning then: what is known of it tells of states of the past.
 */
export type Origin = { readonly producer: string; readonly n: number; readonly isRecord?: boolean }

/** What a watch tells those who act on it. */
export type WatchListener = {
  /** The session may take a message now, or has new evidence about one. */
  changed(watch: SessionWatch): void
  /** The verdict is not to be trusted any more without a look at the screen. */
  lookAt(watch: SessionWatch): void
}

/** Follows one session: gathers signals, concludes its state, and writes the facts. */
export class SessionWatch {
  readonly id: SessionId
  /** The texts that its CLI says it took. */
  readonly taken = new TakenTexts()
  readonly turns: SessionTurns
  readonly #parts: Parts
  readonly #listener: WatchListener
  #evidence: Evidence = noEvidence
  #verdict: Verdict
  #recorded: Lifecycle
  #timer: AbortController | undefined
  #isStopped = false
  #work: Promise<unknown> = Promise.resolve()
  readonly #resumedAt: number

  constructor(parts: Parts, state: SessionState, listener: WatchListener) {
    this.id = state.sessionId
    this.turns = new SessionTurns(parts, state)
    this.#parts = parts
    this.#listener = listener
    this.#resumedAt = parts.clock.now()
    this.#recorded = state.lifecycle
    this.#verdict = this.#judge()
  }

  get root(): Root {
    return this.turns.root
  }

  get verdict(): Verdict {
    return this.#verdict
  }

  get evidence(): Evidence {
    return this.#evidence
  }

  state(): Readonly<SessionState> | undefined {
    return this.#parts.engine.session(this.id)
  }

  judgeOptions() {
    const { auto_complete } = this.#parts.config().child_agents
    const startedAt = this.state()?.managed?.startedAtMs
    return {
      now: this.#parts.clock.now(),
      idleAfterMs: auto_complete.idle_timeout * 1000,
      resumedAt: this.#resumedAt,
      ...(startedAt !== undefined && { startedAt }),
    }
  }

  /** Takes signals in the order they are given; resolves when their facts are durable. */
  take(signals: readonly Signal[], origin?: Origin): Promise<void> {
    const done = this.#work.then(() => this.#take(signals, origin))
    // One batch that fails must not stop those after it; the caller of this one is told.
    this.#work = done.catch(() => {})
    return done
  }

  /** Says what the owner knows for certain: it ended, was sent away, was told to complete. */
  async say(drafts: readonly Draft[], guard?: (fleet: Fleet) => void): Promise<readonly Appended[]> {
    const done = this.#work.then(() => this.#parts.engine.perform(drafts, guard))
    this.#work = done.catch(() => {})
    const appended = await done
    this.#recorded = this.state()?.lifecycle ?? this.#recorded
    return appended
  }

  /** Writes that a call was refused, once, however its record tells of it. */
  async deny(signal: SignalOf<'tool-start'>, refusal: Refusal): Promise<void> {
    const done = this.#work.then(() => this.#parts.engine.perform(this.turns.denied(signal, refusal)))
    this.#work = done.catch(() => {})
    await done
  }

  /** Says how it ended, unless that was said meanwhile: a program may exit while it is being killed. */
  async end(draft: Draft): Promise<void> {
    const done = this.#work.then(async () => {
      const state = this.state()
      if (state && !hasEnded(state)) await this.#parts.engine.perform([draft])
    })
    this.#work = done.catch(() => {})
    await done
    this.#recorded = this.state()?.lifecycle ?? this.#recorded
  }

  /** What it is still taking is written; nothing is looked at again. */
  stop(): void {
    this.#isStopped = true
    this.#timer?.abort()
  }

  async #take(signals: readonly Signal[], origin?: Origin): Promise<void> {
    const drafts: Draft[] = []
    const { managed } = this.state() ?? {}
    const record = managed && agentClis[managed.cli as AgentCliName]?.record
    const isRepeat = origin !== undefined && this.#parts.engine.isRepeat(stampOf(origin), this.#by(origin))
    for (const signal of signals) {
      this.#evidence = observe(this.#evidence, signal)
      this.taken.note(signal)
      drafts.push(...this.turns.take(signal, { record, isRepeat }))
    }
    if (drafts.length > 0) await this.#propose(drafts, origin)
    // Whoever reads a record again says when its end is reached.
    if (!isRepeat || !origin.isRecord) await this.#conclude()
  }

  async #propose(drafts: readonly Draft[], origin: Origin | undefined): Promise<void> {
    const producer = origin && stampOf(origin)
    // Facts of an ended session are refused one by one; that they came late is no fault of theirs.
    const results = await this.#parts.engine.propose({
      items: drafts,
      by: this.#by(origin),
      ...(producer && { producer }),
    })
    // What does not fit the contract is a bug here; what contradicts the state only came late or twice.
    for (const result of results)
      if (result.status === 'rejected' && result.code === 'invalid')
        this.#parts.onBug(new Error(result.message), `facts of ${this.id}`)
  }

  /** What a session's hooks and transcript say is its own word; what the daemon sees by itself is not. */
  #by(origin: Origin | undefined): By {
    if (!origin) return byDaemon
    return { kind: 'session', id: this.id, via: origin.isRecord ? 'transcript' : 'hook' }
  }

  #judge(): Verdict {
    return judge(this.#evidence, this.judgeOptions())
  }

  /** Writes the state when it changed, and comes back when it will have changed by itself. */
  async #conclude(): Promise<void> {
    const before = this.#verdict
    const verdict = this.#judge()
    this.#verdict = verdict
    this.#schedule(verdict)
    const state = this.state()
    if (state && !hasEnded(state)) {
      const unseen = verdict.lifecycle === 'idle' ? this.turns.unseenEnd(this.#evidence, this.#resumedAt) : []
      const drafts = [...unseen, ...this.#changed(before, verdict, state)]
      if (drafts.length > 0) await this.#parts.engine.perform(drafts)
    }
    this.#listener.changed(this)
  }

  #changed(before: Verdict, verdict: Verdict, state: Readonly<SessionState>): Draft[] {
    const to: Lifecycle = verdict.lifecycle === 'error' ? 'idle' : verdict.lifecycle
    const isSame =
      to === this.#recorded && before.waitingFor === verdict.waitingFor && before.health === verdict.health
    // Before the program shows anything, what was written stands: by the launch, or by the daemon before this one.
    if (isSame || to === 'starting') return []
    const from = this.#recorded
    this.#recorded = to
    return changedState(this.root, { from, to, verdict, agentId: state.managed?.name ?? 'agent' })
  }

  #schedule(verdict: Verdict): void {
    this.#timer?.abort()
    if (this.#isStopped || verdict.until === undefined) return
    const timer = new AbortController()
    this.#timer = timer
    const { clock } = this.#parts
    const inMs = Math.min(latestMs, Math.max(soonestMs, verdict.until - clock.now()))
    clock.sleep(inMs, timer.signal).then(
      () => {
        this.#listener.lookAt(this)
        this.take([]).catch((error: unknown) => this.#parts.onBug(error, `the state of ${this.id}`))
      },
      () => {},
    )
  }
}

const stampOf = ({ producer, n }: Origin): ProducerStamp => ({ id: producer, epoch: 1, n })
