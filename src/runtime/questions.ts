import type { Decision } from '../contract/decision.ts'
import { AppError } from '../contract/errors.ts'
import type { PayloadOf } from '../contract/event.ts'
import type { RunId } from '../contract/ids.ts'
import type { Asker } from '../contract/principal.ts'
import type { SignalOf } from '../contract/signal.ts'
import { wholeDecision } from '../core/approvals/answers.ts'
import { cardOf } from '../core/approvals/approval-card.ts'
import type { OpenApproval } from '../core/approvals/open-approvals.ts'
import { isPermitted, permitOf } from '../core/approvals/permissions.ts'
import type { SessionState } from '../core/session/state.ts'
import { askedBy, draftOf, type Root } from '../engine/sessions/drafts.ts'
import type { LiveRun } from './live-run.ts'
import type { RuntimeParts } from './runtime-parts.ts'

type Held = { readonly root: Root; readonly signal: SignalOf<'asking'>; settle(decision: Decision): void }

/** The cli that permits of built-in agents are kept under. */
const own = 'own'

/** Questions of built-in agents to people: one decision wins, and silence is a denial. */
export class Questions {
  readonly #parts: RuntimeParts
  readonly #held = new Map<string, Held>()

  constructor(parts: RuntimeParts) {
    this.#parts = parts
  }

  isHeld(approvalId: string): boolean {
    return this.#held.has(approvalId)
  }

  /** Whether a run waits for a person. */
  isAsking(runId: RunId): boolean {
    return [...this.#held.values()].some(({ root }) => root.runId === runId)
  }

  /** Whether this was allowed before, for the session or for good. */
  isRemembered(state: Readonly<SessionState> | undefined, signal: SignalOf<'asking'>): boolean {
    const permits = [...(state?.permits ?? []), ...this.#parts.engine.permits()]
    return isPermitted(permits, signal, placeOf(state))
  }

  /** Asks, and waits for the decision; the run that asks may be ended meanwhile. */
  async ask(run: LiveRun, signal: SignalOf<'asking'>): Promise<Decision> {
    const { engine, ids, clock, config } = this.#parts
    const timeoutMs = config().child_agents.approvals.timeout * 1000
    const approvalId = `apr_${ids.event().slice(4)}`
    const root: Root = { ...run.root, spanId: ids.span() }
    // What it does after the answer is told again, even if it is what it did before.
    run.status = undefined
    const card = { approvalId, ...cardOf(signal), timeoutMs } as PayloadOf<'approval.requested'>
    await engine.perform([
      draftOf({ ...root, parentSpanId: run.root.spanId }, 'approval.requested', card),
      draftOf(run.root, 'agent.waiting', {
        agentId: run.agentId,
        waitsFor: signal.ask === 'permission' ? 'permission' : 'input',
      }),
    ])
    const decided = Promise.withResolvers<Decision>()
    this.#held.set(approvalId, { root, signal, settle: decided.resolve })
    const over = new AbortController()
    const stopped = () => decided.reject(run.signal.reason as Error)
    run.signal.addEventListener('abort', stopped, { once: true, signal: over.signal })
    if (run.signal.aborted) stopped()
    const late = clock.sleep(timeoutMs, over.signal).then(
      () => 'late' as const,
      () => new Promise<never>(() => {}),
    )
    try {
      const decision = await Promise.race([decided.promise, late])
      if (decision !== 'late') return decision
      const reason = 'nobody answered in time'
      await engine.perform([draftOf(root, 'approval.expired', { approvalId, subject: card.subject, reason })])
      return { verdict: 'deny', reason }
    } finally {
      this.#held.delete(approvalId)
      over.abort()
    }
  }

  /** Gives a decision; the first wins. */
  async decide(
    state: Readonly<SessionState>,
    ask: OpenApproval,
    given: { readonly decision: Decision; readonly by: Asker },
  ): Promise<void> {
    const { engine, clock } = this.#parts
    const { by } = given
    const { approvalId, subject } = ask
    const held = this.#held.get(approvalId)
    if (!held)
      throw new AppError('conflict', 'the run that asked this has ended; nothing is waiting for the answer')
    const decision = wholeDecision(subject, held.signal.questions ?? [], given.decision)
    const latencyMs = Math.max(0, clock.now() - ask.requestedAtMs)
    const decided = { approvalId, subject, by: by.name, latencyMs }
    const at = askedBy(held.root, by)
    const isKept = decision.verdict === 'allow' && decision.scope !== 'once'
    const permit = isKept ? permitOf(held.signal, placeOf(state)) : undefined
    await engine.perform([
      decision.verdict === 'allow'
        ? draftOf(at, 'approval.granted', {
            ...decided,
            scope: decision.scope,
            ...(decision.answers && { answer: decision.answers }),
            ...(permit && { permit }),
          })
        : draftOf(at, 'approval.rejected', {
            ...decided,
            ...(decision.reason && { reason: decision.reason }),
          }),
    ])
    held.settle(decision)
  }
}

const placeOf = (state: Readonly<SessionState> | undefined) => ({
  cli: own,
  folder: state?.managed?.workingDir ?? '/',
})
