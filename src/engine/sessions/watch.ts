import { agentClis } from '../../contract/agent-clis.ts'
import type { AgentCliName } from '../../contract/config/names.ts'
import type { Draft, ProducerStamp } from '../../contract/event.ts'
import type { SessionId } from '../../contract/ids.ts'
import type { Signal, SignalOf, SignalSource } from '../../contract/signal.ts'
import type { Lifecycle } from '../../contract/values.ts'
import type { Fleet } from '../../core/fleet.ts'
import { isSameText } from '../../core/messages/message-text.ts'
import { type Evidence, noEvidence } from '../../core/session/evidence/evidence.ts'
import { observe } from '../../core/session/evidence/observe.ts'
import { judge, type Verdict } from '../../core/session/evidence/verdict.ts'
import { newlyReported } from '../../core/session/managed.ts'
import { type DeniedCall, type FactRun, Facts } from '../../core/session/signal-facts.ts'
import { hasEnded, type OpenSpan, type SessionState } from '../../core/session/state.ts'
import type { Appended } from '../engine.ts'
import { draftOf, type Root } from './drafts.ts'
import type { Parts } from './parts.ts'
import { changedState, LastWords, launchReceipt, TakenTexts, TurnCalls, TurnUse } from './turn-memory.ts'

const answerChars = 64_000
const samePromptMs = 60_000
const soonestMs = 50
const latestMs = 60_000

/**
 * Who told signals and as which of theirs; what was taken once is not taken again, over a restart too. A record is read
 * from its beginning then: what is known of it tells of states of the past.
 */
export type Origin = { readonly producer: string; readonly n: number; readonly isRecord?: boolean }

/** Why a call is refused. */
export type Refusal = { readonly by: DeniedCall['gate']; readonly reason: string; readonly rule?: string }

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
  readonly taken = new TakenTexts()
  readonly #parts: Parts
  readonly #listener: WatchListener
  readonly #facts: Facts
  readonly #root: Root
  /** The workflow and the task that its turns are for. */
  readonly #for: Pick<OpenSpan, 'workflowId' | 'phase' | 'taskId'>
  #evidence: Evidence = noEvidence
  #verdict: Verdict
  #recorded: Lifecycle
  #run: FactRun | undefined
  /** The end of a turn is told before the last lines of its record are read. */
  #lastRun: FactRun | undefined
  #prompt: { at: number; text: string; source: SignalSource } | undefined
  readonly #calls = new TurnCalls()
  readonly #use: TurnUse
  readonly #words = new LastWords()
  #timer: AbortController | undefined
  #isStopped = false
  #work: Promise<unknown> = Promise.resolve()
  readonly #resumedAt: number

  constructor(parts: Parts, state: SessionState, listener: WatchListener) {
    const span = [...state.open.values()].find(({ kind }) => kind === 'session')
    this.id = state.sessionId
    this.#parts = parts
    this.#listener = listener
    this.#root = {
      sessionId: state.sessionId,
      traceId: state.traceId ?? parts.ids.trace(),
      runId: span?.runId ?? parts.ids.run(),
      spanId: span?.spanId ?? parts.ids.span(),
      actor: state.managed?.name ?? 'agent',
    }
    const { workflowId, phase, taskId } = span ?? {}
    this.#for = { ...(workflowId && { workflowId }), ...(phase && { phase }), ...(taskId && { taskId }) }
    this.#facts = new Facts({
      sessionId: state.sessionId,
      traceId: this.#root.traceId,
      sessionSpan: this.#root.spanId,
      actor: this.#root.actor,
      isNew: state.managed?.isResumed !== true && ['spawned', 'starting'].includes(state.lifecycle),
    })
    const open = [...state.open.values()].findLast(
      ({ kind, parentRunId }) => kind === 'agent' && !parentRunId,
    )
    this.#run = open && { runId: open.runId, spanId: open.spanId }
    // What a hook told before is not told anew by the record, which is read again from its beginning.
    const { lastPrompt } = state
    this.#prompt = lastPrompt && { at: lastPrompt.atMs, text: lastPrompt.text, source: 'hook' }
    this.#use = new TurnUse(lastPrompt?.atMs)
    this.#resumedAt = parts.clock.now()
    this.#recorded = state.lifecycle
    this.#verdict = this.#judge()
  }

  get root(): Root {
    return this.#run ? { ...this.#root, runId: this.#run.runId, spanId: this.#root.spanId } : this.#root
  }

  get verdict(): Verdict {
    return this.#verdict
  }

  get evidence(): Evidence {
    return this.#evidence
  }

  /** The calls that have begun and not ended, of its subagents too. */
  get calls(): readonly SignalOf<'tool-start'>[] {
    return this.#calls.running()
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
  async deny(signal: SignalOf<'tool-start'>, { by: gate, reason, rule }: Refusal): Promise<void> {
    const done = this.#work.then(async () => {
      const isOpen = [...(this.state()?.open.values() ?? [])].some(
        ({ kind, facts }) => kind === 'tool' && (facts as { callId?: string }).callId === signal.callId,
      )
      const run = this.#run ?? this.#lastRun ?? this.#root
      await this.#parts.engine.perform(
        this.#facts.denied(signal, run, { gate, reason, isOpen, ...(rule && { rule }) }),
      )
    })
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

  /** The calls that run and that the record does not have: a CLI may write a call down only when it has ended. */
  unwritten(): Draft[] {
    const state = this.state()
    const isRecorded = [...(state?.open.values() ?? [])].some(({ kind }) => kind === 'tool')
    const run = this.#run
    const { enable_tool_tracking } = this.#parts.config().child_agents.progress
    if (!run || isRecorded || !enable_tool_tracking) return []
    return this.#calls
      .unwritten()
      .flatMap((signal) => [
        ...this.#facts.of(signal, run),
        ...this.#facts.of({ ...signal, kind: 'tool-end', ok: true }, run),
      ])
  }

  async #take(signals: readonly Signal[], origin?: Origin): Promise<void> {
    const drafts: Draft[] = []
    const state = this.state()
    const managed = state?.managed
    const isEnded = state !== undefined && hasEnded(state)
    const record = managed && agentClis[managed.cli as AgentCliName]?.record
    const isRepeat = origin !== undefined && this.#parts.engine.isRepeat(stampOf(origin))
    for (const signal of signals) {
      this.#evidence = observe(this.#evidence, signal)
      this.#calls.notice(signal)
      this.taken.note(signal)
      this.#words.note(signal)
      // What is in the journal is only remembered: a run that began then must not begin again.
      if (!isRepeat) drafts.push(...this.#turns(signal, record))
      const run = this.#run ?? this.#lastRun
      const isTracked = this.#isTracked(signal, record)
      if (isTracked) {
        this.#facts.see(signal)
        this.#use.note(signal)
      }
      const facts = isTracked && run ? this.#facts.of(signal, run, isEnded) : []
      if (!isRepeat)
        drafts.push(...facts, ...this.#known(signal), ...launchReceipt(this.#parts, this.#root, signal))
    }
    if (drafts.length > 0) await this.#propose(drafts, origin)
    // Whoever reads a record again says when its end is reached.
    if (!isRepeat || !origin.isRecord) await this.#conclude()
  }

  /** Whether facts are made of a signal: of the CLI's record, as far as the file wants them. */
  #isTracked({ kind, source }: Signal, record: SignalSource | undefined): boolean {
    const { progress } = this.#parts.config().child_agents
    if (kind === 'meter') return progress.enable_token_tracking
    if (source !== record) return false
    if (kind === 'usage') return progress.enable_token_tracking
    return (kind !== 'tool-start' && kind !== 'tool-end') || progress.enable_tool_tracking
  }

  async #propose(drafts: readonly Draft[], origin: Origin | undefined): Promise<void> {
    const producer = origin && stampOf(origin)
    // Facts of an ended session are refused one by one; that they came late is no fault of theirs.
    const results = await this.#parts.engine.propose({
      items: drafts,
      principal: { kind: 'operator', channel: 'api' },
      ...(producer && { producer }),
    })
    // What does not fit the contract is a bug here; what contradicts the state only came late or twice.
    for (const result of results)
      if (result.status === 'rejected' && result.code === 'invalid')
        this.#parts.onBug(new Error(result.message), `facts of ${this.id}`)
  }

  /** Each accepted prompt opens a run, and its end is written once. */
  #turns(signal: Signal, record: SignalSource | undefined): Draft[] {
    if (signal.agent !== undefined) return []
    switch (signal.kind) {
      case 'prompt':
        // A hook may tell of a prompt that only waits: the turn goes on until the record says otherwise.
        if (this.#run && record === 'transcript' && signal.source === 'hook') return []
        return this.#isRepeat(signal) ? [] : this.#beginRun(signal)
      case 'turn-end':
        return this.#endRun('agent.completed', signal, signal.text)
      case 'turn-failed':
        return this.#endRun('agent.failed', signal, signal.error)
      case 'interrupted':
        return this.#endRun('agent.cancelled', signal, 'interrupted')
      default:
        return []
    }
  }

  /** A hook and the transcript both tell of one prompt. */
  #isRepeat(signal: SignalOf<'prompt'>): boolean {
    const before = this.#prompt
    const text = signal.text ?? ''
    const isRepeat =
      before !== undefined &&
      signal.at <= before.at + samePromptMs &&
      before.source !== signal.source &&
      (text === '' || before.text === '' || isSameText(text, before.text) || isSameText(before.text, text))
    if (!isRepeat) this.#prompt = { at: signal.at, text, source: signal.source }
    return isRepeat
  }

  #beginRun(signal: SignalOf<'prompt'>): Draft[] {
    const before = this.#endRun('agent.completed', signal, undefined)
    const state = this.state()
    const managed = state?.managed
    this.#run = { runId: this.#parts.ids.run(), spanId: this.#parts.ids.span() }
    this.#use.begin(signal.at)
    const spawned = draftOf({ ...this.#turnPlace(this.#run), timestamp: timeOf(signal) }, 'agent.spawned', {
      agentId: managed?.name ?? 'agent',
      agentType: managed?.agentType ?? managed?.cli ?? 'agent',
      kind: 'main',
      depth: state?.depth ?? 0,
      ...(signal.text && { agentTask: signal.text.slice(0, 2000) }),
      ...(managed?.model && { model: managed.model }),
    })
    const reopened =
      state && hasEnded(state)
        ? [draftOf({ ...this.#root, timestamp: timeOf(signal) }, 'session.reopened', { by: signal.origin })]
        : []
    return [...before, ...reopened, spawned]
  }

  #endRun(
    type: 'agent.completed' | 'agent.failed' | 'agent.cancelled',
    signal: Signal,
    text: string | undefined,
  ): Draft[] {
    const run = this.#run
    if (!run) return []
    this.#run = undefined
    this.#lastRun = run
    const state = this.state()
    const payload = { ...this.turnEnd(type, signal.at), ...(text && { detail: text.slice(0, answerChars) }) }
    // A call whose end the record does not have yet would be ended by force, as if it had failed.
    const ended = [...(state?.open.values() ?? [])].flatMap(({ kind, facts }) => {
      const end =
        kind === 'tool' ? this.#calls.endOf(String((facts as { callId?: string }).callId)) : undefined
      return end ? this.#facts.of(end, run) : []
    })
    return [...ended, draftOf({ ...this.#turnPlace(run), timestamp: timeOf(signal) }, type, payload)]
  }

  /** A turn that ended while nobody was there to be told: its hook will not come again, and its record shows it. */
  #unseenEnd({ lifecycle }: Verdict): Draft[] {
    const { response } = this.#evidence.last
    if (lifecycle !== 'idle' || !response?.isLast || response.at >= this.#resumedAt) return []
    if (response.at < (this.#prompt?.at ?? 0)) return []
    const end: Signal = { kind: 'turn-end', source: 'transcript', at: response.at, background: 0 }
    return this.#endRun('agent.completed', end, this.#words.text)
  }

  #turnPlace(run: FactRun) {
    return { ...this.#root, ...this.#for, ...run, parentSpanId: this.#root.spanId }
  }

  /** What is told of a turn that ends so. */
  turnEnd(type: 'agent.completed' | 'agent.failed' | 'agent.cancelled', atMs = this.#parts.clock.now()) {
    const { name = 'agent', resultSchema } = this.state()?.managed ?? {}
    const isHeld = type === 'agent.completed' && resultSchema !== undefined
    return { agentId: name, ...this.#use.until(atMs), ...(isHeld && { resultSchema }) }
  }

  #known(signal: Signal): Draft[] {
    const news = newlyReported(signal, this.state()?.managed)
    return news ? [draftOf(this.#root, 'session.updated', { ...news, by: 'cli' })] : []
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
      const drafts = [...this.#unseenEnd(verdict), ...this.#changed(before, verdict, state)]
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

const timeOf = (signal: Signal): string => new Date(signal.at).toISOString()
