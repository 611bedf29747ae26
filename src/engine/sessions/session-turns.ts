import { tellsCost } from '../../contract/agent-clis.ts'
import type { Draft } from '../../contract/event.ts'
import type { SessionId } from '../../contract/ids.ts'
import type { Signal, SignalOf, SignalSource } from '../../contract/signal.ts'
import { isSameText } from '../../core/messages/message-text.ts'
import type { Evidence } from '../../core/session/evidence/evidence.ts'
import { newlyReported } from '../../core/session/managed.ts'
import { type DeniedCall, type FactRun, Facts } from '../../core/session/signal-facts.ts'
import { hasEnded, isTurn, type OpenSpan, type SessionState } from '../../core/session/state.ts'
import { draftOf, type Root } from './drafts.ts'
import type { Parts } from './session-parts.ts'
import { LastWords, launchReceipt, TurnCalls, TurnUse } from './turn-memory.ts'

const answerChars = 64_000
const samePromptMs = 60_000

/** Where a turn begins or ends in a record that is read again. */
const boundaries = new Set<Signal['kind']>(['prompt', 'turn-end', 'turn-failed', 'interrupted'])

type TurnEnd = 'agent.completed' | 'agent.failed' | 'agent.cancelled'

/** Why a call is refused. */
export type Refusal = { readonly by: DeniedCall['gate']; readonly reason: string; readonly rule?: string }

/** How a signal is taken: which source is the CLI's record, and whether the journal knows the signal already. */
type Taking = { readonly record: SignalSource | undefined; readonly isRepeat: boolean }

/** The turns of a terminal session: an accepted prompt opens a run, its facts are written below it, and it ends once. */
export class SessionTurns {
  readonly #parts: Parts
  readonly #facts: Facts
  readonly #session: Root
  /** The workflow, the run and the task that its turns are for. */
  readonly #for: Pick<OpenSpan, 'workflowId' | 'phase' | 'taskId' | 'parentRunId'>
  #run: FactRun | undefined
  /** The end of a turn is told before the last lines of its record are read. */
  #lastRun: FactRun | undefined
  #prompt: { at: number; text: string; source: SignalSource } | undefined
  readonly #calls = new TurnCalls()
  readonly #use: TurnUse
  readonly #words = new LastWords()

  constructor(parts: Parts, state: SessionState) {
    const open = [...state.open.values()]
    const span = open.find(({ kind }) => kind === 'session')
    this.#parts = parts
    this.#session = {
      sessionId: state.sessionId,
      traceId: state.traceId ?? parts.ids.trace(),
      runId: span?.runId ?? parts.ids.run(),
      spanId: span?.spanId ?? parts.ids.span(),
      actor: state.managed?.name ?? 'agent',
    }
    const { workflowId, phase, taskId } = span ?? {}
    const { parentRunId } = state
    this.#for = {
      ...(workflowId && { workflowId }),
      ...(phase && { phase }),
      ...(taskId && { taskId }),
      ...(parentRunId && { parentRunId }),
    }
    this.#facts = new Facts({
      sessionId: state.sessionId,
      traceId: this.#session.traceId,
      sessionSpan: this.#session.spanId,
      actor: this.#session.actor,
      ...(!tellsCost(state.managed?.cli) && {
        estimate: (model, usage) => parts.prices.estimate(model, usage),
      }),
      isNew: state.managed?.isResumed !== true && ['spawned', 'starting'].includes(state.lifecycle),
    })
    const run = open.findLast((one) => one.kind === 'agent' && isTurn(state, one))
    this.#run = run && { runId: run.runId, spanId: run.spanId }
    // What a hook told before is not told anew by the record, which is read again from its beginning.
    const { lastPrompt } = state
    this.#prompt = lastPrompt && { at: lastPrompt.atMs, text: lastPrompt.text, source: 'hook' }
    this.#use = new TurnUse(lastPrompt?.atMs)
  }

  /** Where facts of the session are written: in the turn that is open, or in the session itself. */
  get root(): Root {
    return this.#run ? { ...this.#session, runId: this.#run.runId } : this.#session
  }

  /** The run of the turn that is open. */
  get open(): FactRun['runId'] | undefined {
    return this.#run?.runId
  }

  /** The calls that have begun and not ended, of its subagents too. */
  get calls(): readonly SignalOf<'tool-start'>[] {
    return this.#calls.running()
  }

  /** Remembers a signal; answers what is to be written about it, which is nothing for one that the journal knows. */
  take(signal: Signal, { record, isRepeat }: Taking): Draft[] {
    this.#calls.notice(signal)
    this.#words.note(signal)
    // What is in the journal is only remembered: a run that began then must not begin again.
    if (isRepeat && signal.agent === undefined && boundaries.has(signal.kind)) this.#calls.begin()
    const turns = isRepeat ? [] : this.#turns(signal, record)
    // What a subagent does belongs to its own run, also when no turn is known of any more.
    const isOfSubagent = signal.agent !== undefined || signal.kind === 'subagent-end'
    const run = this.#run ?? this.#lastRun ?? (isOfSubagent ? this.#session : undefined)
    const isTracked = this.#isTracked(signal, record)
    if (isTracked) {
      this.#facts.see(signal, isRepeat)
      this.#use.note(signal)
    }
    const state = this.#state()
    const facts = isTracked && run ? this.#facts.of(signal, run, state !== undefined && hasEnded(state)) : []
    return isRepeat
      ? []
      : [...turns, ...facts, ...this.#known(signal), ...launchReceipt(this.#parts, this.#session, signal)]
  }

  /** That a call was refused, once, however its record tells of it. */
  denied(signal: SignalOf<'tool-start'>, { by: gate, reason, rule }: Refusal): Draft[] {
    const isOpen = this.#openCalls().some((callId) => callId === signal.callId)
    const run = this.#run ?? this.#lastRun ?? this.#session
    return this.#facts.denied(signal, run, { gate, reason, isOpen, ...(rule && { rule }) })
  }

  /** The calls that run and that the record does not have: a CLI may write a call down only when it has ended. */
  unwritten(): Draft[] {
    const run = this.#run
    const { enable_tool_tracking } = this.#parts.config().child_agents.progress
    if (!run || this.#openCalls().length > 0 || !enable_tool_tracking) return []
    return this.#calls
      .unwritten()
      .flatMap((signal) => [
        ...this.#facts.of(signal, run),
        ...this.#facts.of({ ...signal, kind: 'tool-end', ok: true }, run),
      ])
  }

  /** A turn that ended while nobody was there to be told: its hook will not come again, and its record shows it. */
  unseenEnd({ last: { response } }: Evidence, resumedAt: number): Draft[] {
    if (!response?.isLast || response.at >= resumedAt || response.at < (this.#prompt?.at ?? 0)) return []
    const end: Signal = { kind: 'turn-end', source: 'transcript', at: response.at, background: 0 }
    return this.#end('agent.completed', end, this.#words.text)
  }

  /** A turn that was only seen to fail: without this it would count as completed when the next one begins. */
  failedEnd(error: string, atMs = this.#parts.clock.now()): Draft[] {
    return this.#end('agent.failed', { kind: 'turn-failed', source: 'pane', at: atMs, error }, error)
  }

  /** What is told of a turn that ends so. */
  endPayload(type: TurnEnd, atMs = this.#parts.clock.now()) {
    const { name = 'agent', resultSchema } = this.#state()?.managed ?? {}
    const isHeld = type === 'agent.completed' && resultSchema !== undefined
    return { agentId: name, ...this.#use.until(atMs), ...(isHeld && { resultSchema }) }
  }

  #state(): Readonly<SessionState> | undefined {
    return this.#parts.engine.session(this.#session.sessionId)
  }

  #openCalls(): string[] {
    return [...(this.#state()?.open.values() ?? [])].flatMap(({ kind, facts }) =>
      kind === 'tool' ? [String((facts as { callId?: string }).callId)] : [],
    )
  }

  /** Whether facts are made of a signal: of the CLI's record, as far as the file wants them. */
  #isTracked({ kind, source }: Signal, record: SignalSource | undefined): boolean {
    const { progress } = this.#parts.config().child_agents
    if (kind === 'meter') return progress.enable_token_tracking
    if (source !== record) return false
    if (kind === 'usage' || kind === 'totals') return progress.enable_token_tracking
    return (kind !== 'tool-start' && kind !== 'tool-end') || progress.enable_tool_tracking
  }

  #turns(signal: Signal, record: SignalSource | undefined): Draft[] {
    if (signal.agent !== undefined) return []
    switch (signal.kind) {
      case 'prompt':
        // A hook may tell of a prompt that only waits: the turn goes on until the record says otherwise.
        if (this.#run && record === 'transcript' && signal.source === 'hook') return []
        return this.#isRepeat(signal) ? [] : this.#begin(signal)
      case 'turn-end':
        return this.#end('agent.completed', signal, signal.text)
      case 'turn-failed':
        return this.#end('agent.failed', signal, signal.error)
      case 'interrupted':
        return this.#end('agent.cancelled', signal, 'interrupted')
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

  #begin(signal: SignalOf<'prompt'>): Draft[] {
    const before = this.#end('agent.completed', signal, undefined)
    const state = this.#state()
    const managed = state?.managed
    this.#run = { runId: this.#parts.ids.run(), spanId: this.#parts.ids.span() }
    this.#use.begin(signal.at)
    this.#calls.begin()
    const spawned = draftOf({ ...this.#placeOf(this.#run), timestamp: timeOf(signal) }, 'agent.spawned', {
      agentId: managed?.name ?? 'agent',
      agentType: managed?.agentType ?? managed?.cli ?? 'agent',
      kind: 'main',
      depth: state?.depth ?? 0,
      ...(signal.text && { agentTask: signal.text.slice(0, 2000) }),
      ...(managed?.model && { model: managed.model }),
    })
    const reopened =
      state && hasEnded(state)
        ? [
            draftOf({ ...this.#session, timestamp: timeOf(signal) }, 'session.reopened', {
              by: signal.origin,
            }),
          ]
        : []
    return [...before, ...reopened, spawned]
  }

  #end(type: TurnEnd, signal: Signal, text: string | undefined): Draft[] {
    const run = this.#run
    this.#calls.end()
    if (!run) return []
    this.#run = undefined
    this.#lastRun = run
    const payload = {
      ...this.endPayload(type, signal.at),
      ...(text && { detail: text.slice(0, answerChars) }),
    }
    // A call whose end the record does not have yet would be ended by force, as if it had failed.
    const ended = this.#openCalls().flatMap((callId) => {
      const end = this.#calls.endOf(callId)
      return end ? this.#facts.of(end, run) : []
    })
    // Those of an earlier turn went with that.
    const open = new Set([...(this.#state()?.open.values() ?? [])].map(({ spanId }) => spanId))
    const agents = this.#facts.turnEnds(type, signal).filter(({ spanId }) => open.has(spanId))
    return [...ended, ...agents, draftOf({ ...this.#placeOf(run), timestamp: timeOf(signal) }, type, payload)]
  }

  #placeOf(run: FactRun) {
    return { ...this.#session, ...this.#for, ...run, parentSpanId: this.#session.spanId }
  }

  #known(signal: Signal): Draft[] {
    const news = newlyReported(signal, this.#state()?.managed, (foreignId) =>
      isAnothers(this.#parts.engine, { sessionId: this.#session.sessionId, foreignId }),
    )
    return news ? [draftOf(this.#session, 'session.updated', { ...news, by: 'cli' })] : []
  }
}

/** Whether a conversation is that of another session of Muster, or of a program outside that has it open. */
function isAnothers(
  engine: Parts['engine'],
  { sessionId, foreignId }: { readonly sessionId: SessionId; readonly foreignId: string },
): boolean {
  const isTheirs = (other: Readonly<SessionState>): boolean =>
    other.managed?.foreignId === foreignId && other.sessionId !== sessionId
  for (const open of engine.sessions()) if (isTheirs(open)) return true
  for (const ended of engine.endedSessions())
    if (isTheirs(ended) && ended.managed?.origin === 'managed') return true
  return false
}

const timeOf = (signal: Signal): string => new Date(signal.at).toISOString()
