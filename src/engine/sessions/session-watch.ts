import { agentClis } from '../../contract/agent-clis.ts'
import type { AgentCliName } from '../../contract/config/names.ts'
import type { By, Draft, ProducerStamp } from '../../contract/event.ts'
import type { SessionId } from '../../contract/ids.ts'
import { muster } from '../../contract/principal.ts'
import type { Signal, SignalOf } from '../../contract/signal.ts'
import type { Lifecycle } from '../../contract/values.ts'
import type { Fleet } from '../../core/fleet.ts'
import { type Evidence, noEvidence, timeOf } from '../../core/session/evidence/evidence.ts'
import { failureOf } from '../../core/session/evidence/explain.ts'
import { observe } from '../../core/session/evidence/observe.ts'
import { judge, type Verdict } from '../../core/session/evidence/verdict.ts'
import { hasEnded, type SessionState } from '../../core/session/state.ts'
import type { Appended } from '../engine.ts'
import type { Root } from './drafts.ts'
import type { Parts } from './session-parts.ts'
import { type Refusal, SessionTurns } from './session-turns.ts'
import { changedHealth, changedState, TakenTexts } from './turn-memory.ts'

const soonestMs = 50
const latestMs = 60_000

/**
 * How the session itself told signals: by a hook, or by its record, which is read from its beginning after a restart, so
 * that what is known of it tells of states of the past. What is numbered is not taken again, over a restart too.
 */
export type Origin = {
  readonly via: 'hook' | 'transcript'
  readonly told?: { readonly producer: string; readonly n: number } | undefined
}

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
  readonly #wasAsking: boolean
  /** When its box was first seen while the prompt it was started with was not taken. */
  #boxSeenAt: number | undefined
  /** Its last turn broke off without a sign that is seen again: a start of its program must not hide that. */
  #broken: SignalOf<'turn-failed'> | undefined
  #timer: AbortController | undefined
  #isStopped = false
  #work: Promise<unknown> = Promise.resolve()
  /** Since when it is followed by this daemon. */
  readonly followedAt: number
  /** When the two clocks were looked at last, and when they had last moved apart: the machine slept, or its clock was set. */
  #lookedAt: { readonly now: number; readonly monotonic: number }
  #leaptAt = Number.NEGATIVE_INFINITY

  constructor(parts: Parts, state: SessionState, listener: WatchListener) {
    this.id = state.sessionId
    this.turns = new SessionTurns(parts, state)
    this.#parts = parts
    this.#listener = listener
    this.followedAt = parts.clock.now()
    this.#lookedAt = { now: this.followedAt, monotonic: parts.clock.monotonic() }
    this.#recorded = state.lifecycle
    this.#wasAsking = state.lifecycle === 'waiting_input'
    const { brokenTurn } = state
    if (brokenTurn) this.#broken = turnFailed(brokenTurn.atMs, brokenTurn.why)
    if (this.#broken) this.#evidence = observe(this.#evidence, this.#broken)
    this.#verdict = this.#judge()
  }

  get root(): Root {
    return this.turns.root
  }

  get verdict(): Verdict {
    return this.#verdict
  }

  /** How it stands wherever it is shown: as it was written last, unless its program is found dead. */
  get shown(): Lifecycle {
    const state = this.state()
    const isDead = this.#verdict.lifecycle === 'error' && state !== undefined && !hasEnded(state)
    return isDead ? 'error' : this.#recorded
  }

  /** Whether it asked something when it was taken up, and nothing was told since that would mean it is over. */
  get hasAskedBefore(): boolean {
    const { last, answers } = this.#evidence
    const told = [last.prompt, last['tool-end'], last.text, last['turn-end'], last['turn-failed']]
    const ends = [...told, last.interrupted, last.exited, ...answers]
    const isOver = ends.some((sign) => timeOf(sign) >= this.followedAt)
    return this.#wasAsking && !isOver && asking.has(this.shown)
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
      resumedAt: Math.max(this.followedAt, this.#leaptAt),
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

  /** Its turn broke off with its program, which is back. */
  async breakOff(why: string): Promise<void> {
    this.#broken = turnFailed(this.#parts.clock.now(), why)
    await this.take([this.#broken])
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
    const stamp = stampOf(origin)
    const isRepeat = stamp !== undefined && this.#parts.engine.isRepeat(stamp, this.#by(origin))
    const now = this.#parts.clock.now()
    for (const told of signals) {
      // A session tells late, never early: a sighting of tomorrow would outweigh all that is seen until then.
      const signal = told.at > now ? { ...told, at: now } : told
      this.#evidence = observe(this.#evidence, signal)
      this.#keepBroken(signal)
      this.taken.note(signal)
      drafts.push(...this.turns.take(signal, { record, isRepeat }))
    }
    if (drafts.length > 0) await this.#propose(drafts, origin)
    // Whoever reads a record again says when its end is reached.
    if (!isRepeat || origin?.via !== 'transcript') await this.#conclude()
  }

  /** The conversation that a program comes back to is the one whose turn broke off, until a prompt or another conversation. */
  #keepBroken(signal: Signal): void {
    if (!this.#broken || signal.agent !== undefined || signal.at < this.#broken.at) return
    const isLeft = signal.kind === 'prompt' || (signal.kind === 'gone' && isSwitch(signal.reason))
    if (isLeft || (signal.kind === 'ready' && signal.reason === 'clear')) this.#broken = undefined
    else if (signal.kind === 'ready')
      this.#evidence = observe(this.#evidence, { ...this.#broken, at: signal.at })
  }

  async #propose(drafts: readonly Draft[], origin: Origin | undefined): Promise<void> {
    const producer = stampOf(origin)
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
    return origin ? { kind: 'session', id: this.id, via: origin.via } : muster.by
  }

  #judge(): Verdict {
    return judge(this.#evidence, this.judgeOptions())
  }

  /** Writes the state when it changed, and comes back when it will have changed by itself. */
  async #conclude(): Promise<void> {
    this.#noteLeap()
    const before = this.#verdict
    const verdict = this.#judge()
    this.#verdict = verdict
    this.#schedule(verdict)
    const state = this.state()
    if (state && !hasEnded(state)) {
      const drafts = [...this.#unseenEnd(verdict), ...this.#changed(before, verdict, state)]
      if (drafts.length > 0) await this.#parts.engine.perform(drafts)
    }
    this.#listener.changed(this)
  }

  /** Nobody could have seen anything while the machine slept: silence of that time says nothing. */
  #noteLeap(): void {
    const { clock } = this.#parts
    const [now, monotonic] = [clock.now(), clock.monotonic()]
    const leapMs = now - this.#lookedAt.now - (monotonic - this.#lookedAt.monotonic)
    if (Math.abs(leapMs) > mostDriftMs) this.#leaptAt = now
    this.#lookedAt = { now, monotonic }
  }

  /** The end of a turn of which no hook told: it was read in the record, or seen on the screen. */
  #unseenEnd(verdict: Verdict): Draft[] {
    if (verdict.lifecycle === 'idle') return this.turns.unseenEnd(this.#evidence, this.followedAt)
    return verdict.lifecycle === 'failed' ? this.turns.failedEnd(failureOf(verdict), verdict.since) : []
  }

  #changed(before: Verdict, verdict: Verdict, state: Readonly<SessionState>): Draft[] {
    const to = verdict.lifecycle
    // Before the program shows anything, what was written stands: by the launch, or by the daemon before this one.
    // That it died is written by whoever finds it dead, as the end of the session.
    if (to === 'starting' || to === 'error' || (to === 'idle' && this.#awaitsPrompt(state))) return []
    if (to === 'running' && resting.has(this.#recorded) && !this.#isSeenNow(verdict)) return []
    const health = changedHealth(this.root, state, verdict)
    if (to === this.#recorded && before.waitingFor === verdict.waitingFor) return health
    const from = this.#recorded
    this.#recorded = to
    return [
      ...changedState(this.root, { from, to, verdict, agentId: state.managed?.name ?? 'agent' }),
      ...health,
    ]
  }

  /** Whether a sign of it was seen since it is followed: what is only read again in its record is how it was before. */
  #isSeenNow({ because }: Verdict): boolean {
    const followedMs = this.#parts.clock.now() - this.followedAt
    return because.some(({ ageMs }) => ageMs < followedMs)
  }

  /** It was started with a prompt that it has not taken yet: its empty box is not that of one who has finished. */
  #awaitsPrompt({ queue = [], managed }: Readonly<SessionState>): boolean {
    const isNew = this.#recorded === 'spawned' || this.#recorded === 'starting'
    // A screen that shows work while the program comes up is no turn, and calm after it no end of one.
    const isUntold = !resting.has(this.#recorded) && this.#evidence.last.prompt === undefined
    const record = agentClis[managed?.cli as AgentCliName]?.record
    if (!(isNew || isUntold) || record === undefined || !queue.some(({ by }) => by === 'launch')) return false
    // Somebody stopped it, and saw that it stopped; a busy program tells of its prompt later than that.
    if (this.#evidence.last.interrupted) return false
    const now = this.#parts.clock.now()
    // From its box on, not from its start: on a busy machine a CLI takes minutes to come up.
    this.#boxSeenAt ??= now
    return now - this.#boxSeenAt <= takesPromptMs
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

/** Clocks that are adjusted move apart by less. */
const mostDriftMs = 30_000

/** Longer than a busy machine keeps a CLI from its prompt once its box is drawn; after that it has lost the prompt. */
const takesPromptMs = 5 * 60_000

/** Where a session rests until something is seen of it: a record need not tell how a turn ended, or that it asks. */
const resting: ReadonlySet<Lifecycle> = new Set<Lifecycle>(['idle', 'failed', 'waiting_input'])

/** As what a session is shown while its question may still be open: a screen is drawn again late. */
const asking: ReadonlySet<Lifecycle> = new Set<Lifecycle>(['waiting_input', 'running'])

const isSwitch = (reason: string | undefined): boolean => reason === 'clear' || reason === 'resume'

const turnFailed = (at: number, why: string): SignalOf<'turn-failed'> => ({
  kind: 'turn-failed',
  source: 'process',
  at,
  error: why.replace(/^the turn failed: /, ''),
})

const stampOf = (origin: Origin | undefined): ProducerStamp | undefined =>
  origin?.told && { id: origin.told.producer, epoch: 1, n: origin.told.n }
