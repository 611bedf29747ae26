import type { Decision } from '../../contract/dialect.ts'
import { AppError } from '../../contract/errors.ts'
import type { PayloadOf } from '../../contract/event.ts'
import type { AskedQuestion, SignalOf } from '../../contract/signal.ts'
import type { Ask } from '../../core/approvals/asks.ts'
import { cardOf } from '../../core/approvals/card.ts'
import { draftOf } from './drafts.ts'
import type { Parts } from './parts.ts'
import type { SessionWatch } from './watch.ts'

/** A caller that names no question means all of them. */
export const anyQuestion = '*'

type Held = {
  readonly questions: readonly AskedQuestion[]
  readonly watch: SessionWatch
  readonly settle: (decision: Decision | undefined) => void
}

/** Questions of CLIs that wait for an answer from outside; one decision wins and expiry is a denial. */
export class Approvals {
  readonly #parts: Parts
  readonly #held = new Map<string, Held>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /**
   * Asks for a decision and waits for it. Undefined when the question became moot: it was answered in the
   * terminal, the CLI hung up, or the daemon stops; the CLI's own dialog is the fallback then.
   */
  async ask(
    watch: SessionWatch,
    signal: SignalOf<'asking'>,
    gone: AbortSignal,
  ): Promise<Decision | undefined> {
    const approvalId = `apr_${this.#parts.ids.event().slice(4)}`
    const spanId = this.#parts.ids.span()
    const card = cardOf(signal)
    const timeoutMs = this.#parts.config().child_agents.approvals.timeout * 1000
    const root = watch.root
    await watch.say([
      draftOf({ ...root, spanId, parentSpanId: root.spanId }, 'approval.requested', {
        approvalId,
        timeoutMs,
        ...card,
      } as PayloadOf<'approval.requested'>),
    ])
    const over = new AbortController()
    const decision = new Promise<Decision | undefined>((settle) => {
      this.#held.set(approvalId, { watch, settle, questions: signal.questions ?? [] })
      gone.addEventListener('abort', () => settle(undefined), { once: true })
      this.#parts.clock.sleep(timeoutMs, over.signal).then(
        () => settle({ verdict: 'deny', reason: 'nobody answered in time' }),
        () => {},
      )
    })
    try {
      const decided = await decision
      await this.#close(watch, { approvalId, subject: card.subject }, decided)
      return decided
    } finally {
      this.#held.delete(approvalId)
      over.abort()
    }
  }

  /** Gives a decision; the first wins. */
  async decide(
    watch: SessionWatch,
    ask: Ask,
    { decision, by }: { decision: Decision; by: string },
  ): Promise<void> {
    const { approvalId, subject, spanId } = ask
    const held = this.#held.get(approvalId)
    const exact = held ? withQuestions(decision, held.questions) : decision
    const root = watch.root
    const latencyMs = Math.max(0, this.#parts.clock.now() - ask.requestedAtMs)
    const granted = {
      approvalId,
      subject,
      by,
      latencyMs,
      ...(exact.verdict === 'allow' && {
        scope: exact.scope,
        ...(exact.answers && { answer: exact.answers }),
      }),
    }
    const rejected = {
      approvalId,
      subject,
      by,
      latencyMs,
      ...(decision.verdict === 'deny' && decision.reason && { reason: decision.reason }),
    }
    await watch.say([
      decision.verdict === 'allow'
        ? draftOf({ ...root, spanId }, 'approval.granted', granted)
        : draftOf({ ...root, spanId }, 'approval.rejected', rejected),
    ])
    held?.settle(exact)
  }

  isHeld(approvalId: string): boolean {
    return this.#held.has(approvalId)
  }

  /** A dialog that a person answered in the terminal leaves no question; a CLI may not say so to the hook that waits. */
  async dropAnswered(watch: SessionWatch): Promise<void> {
    const { lifecycle } = watch.verdict
    if (lifecycle === 'waiting_input') return
    for (const ask of watch.state()?.asks ?? []) {
      if (this.isHeld(ask.approvalId)) await this.expire(watch, ask, 'it was answered in the terminal')
      // Agreeing now would end work that was not there when the question was asked.
      else if (ask.subject === 'termination' && lifecycle === 'running')
        await this.expire(watch, ask, 'it went on working')
    }
  }

  /** What became moot is closed as such, once. */
  async expire(watch: SessionWatch, ask: Ask, reason: string): Promise<void> {
    await watch
      .say([
        draftOf({ ...watch.root, spanId: ask.spanId }, 'approval.expired', {
          approvalId: ask.approvalId,
          subject: ask.subject,
          reason,
        }),
      ])
      .catch(onlyDecided)
    this.#held.get(ask.approvalId)?.settle(undefined)
  }

  stop(): void {
    for (const { settle } of this.#held.values()) settle(undefined)
  }

  async #close(
    watch: SessionWatch,
    { approvalId, subject }: Pick<Ask, 'approvalId' | 'subject'>,
    decided: Decision | undefined,
  ): Promise<void> {
    const open = watch.state()?.asks?.find((ask) => ask.approvalId === approvalId)
    if (!open) return
    const reason = decided ? 'nobody answered in time' : 'it was answered or withdrawn in the terminal'
    await watch
      .say([
        draftOf({ ...watch.root, spanId: open.spanId }, 'approval.expired', { approvalId, subject, reason }),
      ])
      .catch(onlyDecided)
  }
}

function withQuestions(decision: Decision, questions: readonly AskedQuestion[]): Decision {
  const answer = decision.verdict === 'allow' ? decision.answers?.[anyQuestion] : undefined
  if (decision.verdict !== 'allow' || answer === undefined) return decision
  const { [anyQuestion]: _any, ...named } = decision.answers ?? {}
  return {
    ...decision,
    answers: { ...Object.fromEntries(questions.map(({ question }) => [question, answer])), ...named },
  }
}

// Somebody decided in the same moment: theirs stands.
function onlyDecided(error: unknown): void {
  if (!(error instanceof AppError && error.code === 'conflict')) throw error
}
