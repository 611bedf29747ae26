import { freeCommand } from '../../contract/cli/free-commands.ts'
import type { AgentCliName } from '../../contract/config/names.ts'
import type { Decision } from '../../contract/decision.ts'
import { AppError } from '../../contract/errors.ts'
import type { PayloadOf } from '../../contract/event.ts'
import type { Asker } from '../../contract/principal.ts'
import { askedAgainMs } from '../../contract/question-answers.ts'
import type { Dialog, SignalOf } from '../../contract/signal.ts'
import type { Permit } from '../../contract/values.ts'
import { wholeDecision } from '../../core/approvals/answers.ts'
import { cardOf, dialogText } from '../../core/approvals/approval-card.ts'
import { askedByDialog, isQuestion, refuseSeveral } from '../../core/approvals/asked-by-dialog.ts'
import type { OpenApproval } from '../../core/approvals/open-approvals.ts'
import {
  isPermitted,
  needsNoApproval,
  type PermitContext,
  permitOf,
} from '../../core/approvals/permissions.ts'
import { askedBy, draftOf } from './drafts.ts'
import { pressAnswer } from './press-answer.ts'
import { readScreen } from './read-screen.ts'
import type { Parts } from './session-parts.ts'
import type { SessionWatch } from './session-watch.ts'
import type { Sessions } from './sessions.ts'

/** How a question ended: decided, nobody answered in time, or it is not asked any more. */
type Settled = Decision | 'expired' | 'moot'

type Held = {
  readonly watch: SessionWatch
  readonly signal: SignalOf<'asking'>
  readonly settle: (settled: Settled) => void
  /** Whether its answer goes by keys, because no hook waits for it. */
  readonly byKeys: boolean
  isPressing: boolean
}

/** Why something is not asked. */
type Passing = 'free' | 'remembered' | 'role'

type Asking = { readonly watch: SessionWatch; readonly signal: SignalOf<'asking'> }

const once: Decision = { verdict: 'allow', scope: 'once' }
const late = 'nobody answered in time'
const drawnMs = 5000
const lookMs = 250
/** So long a dialog stands that no hook told of before it becomes a question. */
const untoldMs = 3000

/** Questions of CLIs that wait for an answer from outside; one decision wins and expiry is a denial. */
export class Approvals {
  readonly #parts: Parts
  readonly #sessions: Pick<Sessions, 'get' | 'send' | 'isRunning'>
  readonly #held = new Map<string, Held>()
  readonly #seen = new WeakMap<SessionWatch, { text: string; since: number }>()
  readonly #stopped = new AbortController()

  /** What a refusal by keys has no room for is told as a message. */
  constructor(parts: Parts, sessions: Pick<Sessions, 'get' | 'send' | 'isRunning'>) {
    this.#parts = parts
    this.#sessions = sessions
  }

  /** Whether something needs no question: `sm` that only reports, what was allowed before, or what a task is there for. */
  passes({ watch, signal }: Asking): Passing | undefined {
    const { ask, tool, input } = signal
    const command = typeof input === 'object' && input !== null && 'command' in input ? input.command : ''
    if (ask === 'permission' && tool === 'Bash' && typeof command === 'string' && freeCommand.test(command))
      return 'free'
    const permits = [...(watch.state()?.permits ?? []), ...this.#parts.engine.permits()]
    if (isPermitted(permits, signal, placeOf(watch))) return 'remembered'
    const state = watch.state()
    const parent = state?.parentSessionId && this.#parts.engine.session(state.parentSessionId)
    return parent && needsNoApproval(state?.managed, parent.managed, signal) ? 'role' : undefined
  }

  /**
   * Asks for a decision and waits for it. Undefined when the question became moot: it was answered in the
   * terminal, the CLI hung up, or the daemon stops; the CLI's own dialog is the fallback then.
   */
  async ask(asking: Asking, gone: AbortSignal): Promise<Decision | undefined> {
    const passes = this.passes(asking)
    if (passes) await this.#note(asking, passes)
    if (passes) return once
    const settled = await this.#hold(asking, { byKeys: false, gone })
    if (settled === 'expired') return { verdict: 'deny', reason: late }
    return settled === 'moot' ? undefined : settled
  }

  /** The same for a dialog that no hook waits at: its answer is pressed when it is given. */
  askByKeys(asking: Asking): void {
    this.#askByKeys(asking).catch((error: unknown) => {
      if (!this.#stopped.signal.aborted) this.#parts.onBug(error, 'a dialog')
    })
  }

  async #askByKeys(asking: Asking): Promise<void> {
    const passes = this.passes(asking)
    if (passes) {
      const missed = await this.#pressWhenDrawn(asking, once).catch(onlyRefusal)
      if (!missed) await this.#note(asking, passes)
      if (!missed) return
      await asking.watch.take([asking.signal])
    }
    const settled = await this.#hold(asking, { byKeys: true, gone: this.#stopped.signal })
    if (settled === 'expired')
      await this.#pressWhenDrawn(asking, { verdict: 'deny', reason: late }).catch(onlyRefusal)
  }

  /** A dialog on the screen that nothing told of, as after a restart, becomes a question too. */
  notice(watch: SessionWatch, dialog: Dialog | undefined): void {
    const state = watch.state()
    const cli = (state?.managed?.cli ?? 'custom') as AgentCliName
    const now = this.#parts.clock.now()
    const isOpen = state?.asks?.some(({ subject }) => ofCli.has(subject)) ?? false
    const before = this.#seen.get(watch)
    if (!dialog || !isQuestion(dialog) || isOpen || !this.#parts.clis[cli].dialect.answerKeys)
      return void this.#seen.delete(watch)
    const text = dialogText(dialog)
    if (before?.text !== text) return void this.#seen.set(watch, { text, since: now })
    if (now - before.since < untoldMs) return
    this.#seen.delete(watch)
    this.askByKeys({ watch, signal: askedByDialog(dialog, watch.turns.calls, now) })
  }

  /**
   * Waits until it is known what a session asks: after a restart its dialog is read from the screen, and becomes a
   * question again only when it has been there for a while.
   */
  async reread(watch: SessionWatch): Promise<void> {
    const { clock } = this.#parts
    const { signal } = this.#stopped
    const until = clock.monotonic() + askedAgainMs
    while (!this.#isAsking(watch)) {
      const dialog = (await readScreen(this.#parts, watch, signal))?.reading.dialog
      this.notice(watch, dialog)
      // One that was held by a hook may take a moment to show its own dialog.
      if (dialog ? !isQuestion(dialog) : !this.isDue(watch)) return
      if (clock.monotonic() > until)
        throw new AppError(
          'timeout',
          'what it asks is not shown yet; try again, or answer it with: sm attach',
        )
      await clock.sleep(lookMs, signal)
    }
  }

  /** Whether what a session asked before this daemon began is to be asked again: nothing says yet that it is over. */
  isDue(watch: SessionWatch): boolean {
    return watch.hasAskedBefore && !this.#isAsking(watch) && this.#now() - watch.followedAt < askedAgainMs
  }

  /** Whether it asks something that can be answered now. */
  #isAsking(watch: SessionWatch): boolean {
    const asks = watch.state()?.asks ?? []
    return asks.some(({ approvalId, subject }) => !ofCli.has(subject) || this.isHeld(approvalId))
  }

  /** Gives a decision; the first wins. */
  async decide(
    watch: SessionWatch,
    ask: OpenApproval,
    { decision, by }: { decision: Decision; by: Asker },
  ): Promise<void> {
    const { approvalId, subject } = ask
    const held = this.#held.get(approvalId)
    if (!held && ofCli.has(subject))
      throw new AppError(
        'conflict',
        'nothing is waiting for this answer any more; look at it with: sm attach',
      )
    const questions = held?.signal.questions ?? []
    if (held?.byKeys && decision.verdict === 'allow') refuseSeveral(questions)
    const exact = wholeDecision(subject, questions, decision)
    const permit = held && this.#permit(held, exact)
    // What Muster remembers is for once to the CLI: its own idea of the like may be far wider.
    const said: Decision = permit && exact.verdict === 'allow' ? { ...exact, scope: 'once' } : exact
    if (held?.byKeys) await this.#pressOnce(held, said)
    const latencyMs = Math.max(0, this.#now() - ask.requestedAtMs)
    const decided = { approvalId, subject, by: by.name, latencyMs }
    const at = askedBy({ ...watch.root, spanId: ask.spanId }, by)
    await watch.say([
      exact.verdict === 'allow'
        ? draftOf(at, 'approval.granted', {
            ...decided,
            scope: exact.scope,
            ...(exact.answers && { answer: exact.answers }),
            ...(permit && { permit }),
          })
        : draftOf(at, 'approval.rejected', { ...decided, ...(exact.reason && { reason: exact.reason }) }),
    ])
    held?.settle(said)
    const live = held?.byKeys ? this.#sessions.get(watch.id) : undefined
    if (live && this.#sessions.isRunning(watch.id) && exact.verdict === 'deny' && exact.reason)
      await this.#sessions.send(live, { text: exact.reason, mode: 'sequential', from: by.name, by: by.by })
  }

  isHeld(approvalId: string): boolean {
    return this.#held.has(approvalId)
  }

  /** A dialog that a person answered in the terminal leaves no question; a CLI may not say so to the hook that waits. */
  async dropAnswered(watch: SessionWatch): Promise<void> {
    const { lifecycle } = watch.verdict
    if (lifecycle === 'waiting_input') return
    for (const ask of watch.state()?.asks ?? []) {
      const held = this.#held.get(ask.approvalId)
      if (held && !held.isPressing) await this.#expire(watch, ask, 'it was answered in the terminal')
      // Agreeing now would end work that was not there when the question was asked.
      else if (ask.subject === 'termination' && lifecycle === 'running')
        await this.#expire(watch, ask, 'it continued without an answer')
    }
  }

  /** Nobody waits at what was asked before the daemon began: what still stands is asked again. */
  async dropStale(watch: SessionWatch): Promise<void> {
    for (const ask of watch.state()?.asks ?? [])
      if (ofCli.has(ask.subject) && !this.isHeld(ask.approvalId))
        await this.#expire(watch, ask, 'the daemon was restarted; what is still open is asked again')
  }

  stop(): void {
    this.#stopped.abort()
    for (const { settle } of this.#held.values()) settle('moot')
  }

  async #hold(asking: Asking, { byKeys, gone }: { byKeys: boolean; gone: AbortSignal }): Promise<Settled> {
    const { watch, signal } = asking
    const { root, approvalId, requested } = this.#requested(asking)
    if (!byKeys) await this.#dropRead(watch)
    const over = new AbortController()
    const { timeout } = this.#parts.config().child_agents.approvals
    const timeoutMs = timeout * 1000
    await watch.say([draftOf(root, 'approval.requested', { ...requested, timeoutMs })])
    const settled = new Promise<Settled>((settle) => {
      this.#held.set(approvalId, { watch, signal, settle, byKeys, isPressing: false })
      if (gone.aborted) settle('moot')
      gone.addEventListener('abort', () => settle('moot'), { once: true, signal: over.signal })
      this.#parts.clock.sleep(timeoutMs, over.signal).then(
        () => settle('expired'),
        () => {},
      )
    })
    try {
      const how = await settled
      const open = watch.state()?.asks?.find((ask) => ask.approvalId === approvalId)
      if (open)
        await this.#expire(
          watch,
          open,
          how === 'expired' ? late : 'it was answered or withdrawn in the terminal',
        )
      if (!this.#stopped.signal.aborted) await watch.take([this.#answered(signal)])
      return how
    } finally {
      this.#held.delete(approvalId)
      over.abort()
    }
  }

  /** What was read from the screen is over when its program asks it by itself: it would be asked twice. */
  async #dropRead(watch: SessionWatch): Promise<void> {
    for (const ask of watch.state()?.asks ?? []) {
      const held = this.#held.get(ask.approvalId)
      if (held?.signal.source === 'pane' && !held.isPressing)
        await this.#expire(watch, ask, 'its program asks it itself now')
    }
  }

  #requested({ watch, signal }: Asking) {
    const approvalId = `apr_${this.#parts.ids.event().slice(4)}`
    const root = { ...watch.root, spanId: this.#parts.ids.span(), parentSpanId: watch.root.spanId }
    const requested = { approvalId, ...cardOf(signal) } as PayloadOf<'approval.requested'>
    return { root, approvalId, requested }
  }

  /** What passed unasked is written down all the same, with its answer beside it; what only reports is not worth it. */
  async #note(asking: Asking, passes: Passing): Promise<void> {
    if (passes === 'free') return
    const { root, approvalId, requested } = this.#requested(asking)
    const { subject } = requested
    const granted = { approvalId, subject, by: passes, scope: 'once', latencyMs: 0 } as const
    await asking.watch.say([
      draftOf(root, 'approval.requested', requested),
      draftOf(root, 'approval.granted', granted),
    ])
  }

  #answered({ ask, tool, callId, input, agent }: SignalOf<'asking'>): SignalOf<'answered'> {
    return {
      kind: 'answered',
      source: 'explicit',
      at: this.#now(),
      ask,
      ...(tool !== undefined && { tool }),
      ...(callId !== undefined && { callId }),
      ...(input !== undefined && { input }),
      ...(agent !== undefined && { agent }),
    }
  }

  #permit({ watch, signal }: Held, decision: Decision): Permit | undefined {
    if (decision.verdict === 'deny' || decision.scope === 'once') return undefined
    const place = placeOf(watch)
    const { keeps } = this.#parts.clis[place.cli as AgentCliName].dialect
    return keeps.includes(decision.scope) ? undefined : permitOf(signal, place)
  }

  async #pressOnce(held: Held, decision: Decision): Promise<void> {
    if (held.isPressing) throw new AppError('conflict', 'it is being answered right now; see: sm approvals')
    held.isPressing = true
    try {
      await this.#pressWhenDrawn(held, decision)
    } finally {
      held.isPressing = false
    }
  }

  /** A hook may tell of a dialog before it is drawn. */
  async #pressWhenDrawn({ watch, signal }: Asking, decision: Decision): Promise<void> {
    const { clock } = this.#parts
    const until = clock.monotonic() + drawnMs
    for (;;) {
      try {
        return await pressAnswer(this.#parts, { watch, signal, decision }, this.#stopped.signal)
      } catch (error) {
        const isEarly = error instanceof AppError && error.code === 'conflict'
        if (!isEarly || clock.monotonic() > until) throw error
        await clock.sleep(lookMs, this.#stopped.signal)
      }
    }
  }

  /** What became moot is closed as such, once. */
  async #expire(watch: SessionWatch, ask: OpenApproval, reason: string): Promise<void> {
    const { approvalId, subject, spanId } = ask
    await watch
      .say([draftOf({ ...watch.root, spanId }, 'approval.expired', { approvalId, subject, reason })])
      .catch(onlyDecided)
    this.#held.get(approvalId)?.settle('moot')
  }

  #now(): number {
    return this.#parts.clock.now()
  }
}

/** What an agent's CLI asks; the others are questions of Muster itself. */
const ofCli = new Set<OpenApproval['subject']>(['tool', 'question', 'plan'])

function placeOf(watch: SessionWatch): PermitContext {
  const managed = watch.state()?.managed
  return { cli: managed?.cli ?? 'custom', folder: managed?.workingDir ?? '/' }
}

function onlyRefusal(error: unknown): AppError {
  if (error instanceof AppError) return error
  throw error
}

// Somebody decided in the same moment: theirs stands.
function onlyDecided(error: unknown): void {
  if (!(error instanceof AppError && error.code === 'conflict')) throw error
}
