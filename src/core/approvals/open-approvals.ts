import type * as z from 'zod'
import type { AgentEvent, Draft, EventType, Observed } from '../../contract/event.ts'
import type { SpanId } from '../../contract/ids.ts'
import type { ApprovalSubject } from '../../contract/values.ts'

/** A question that nobody has answered yet. */
export type OpenApproval = {
  readonly approvalId: string
  readonly spanId: SpanId
  readonly subject: z.infer<typeof ApprovalSubject>
  readonly options: readonly string[]
  readonly requestedAtMs: number
  readonly expiresAtMs?: number
}

const none: readonly OpenApproval[] = []

/** The open questions of a session, oldest first. */
export function evolveApprovals(
  asks: readonly OpenApproval[] = none,
  event: Draft,
  recordedAt: string,
): readonly OpenApproval[] {
  switch (event.type) {
    case 'approval.requested': {
      const { approvalId, subject, options = [], timeoutMs } = event.payload
      const requestedAtMs = Date.parse(event.timestamp ?? recordedAt)
      const ask: OpenApproval = {
        approvalId,
        spanId: event.spanId,
        subject,
        options,
        requestedAtMs,
        ...(timeoutMs !== undefined && { expiresAtMs: requestedAtMs + timeoutMs }),
      }
      return [...asks, ask]
    }
    case 'approval.granted':
    case 'approval.rejected':
    case 'approval.expired':
      return asks.filter(({ approvalId }) => approvalId !== event.payload.approvalId)
    default:
      return asks
  }
}

/** What shows that a person was asked, and answered. */
export const approvalFacts = [
  'approval.requested',
  'approval.granted',
  'approval.rejected',
  'approval.expired',
] as const satisfies readonly EventType[]

/** How long work was paused, by its record: a person was asked, or no daemon was there to continue it. */
export class PausedTime {
  readonly #asked = new Set<string>()
  #lastMs: number | undefined
  #pausedMs = 0

  /** The next fact of the work. */
  take(event: Observed): void {
    this.#pass(Date.parse(event.timestamp), isResumed(event))
    if (event.type === 'approval.requested') this.#asked.add(event.payload.approvalId)
    else if (isAnswer(event)) this.#asked.delete(event.payload.approvalId)
  }

  /** Until now; of work that continues by itself only the time it waited for a person. */
  ms(nowMs: number, { isAway }: { readonly isAway: boolean }): number {
    this.#pass(nowMs, isAway)
    return this.#pausedMs
  }

  #pass(atMs: number, isPaused: boolean): void {
    if (this.#lastMs !== undefined && (isPaused || this.#asked.size > 0))
      this.#pausedMs += Math.max(0, atMs - this.#lastMs)
    this.#lastMs = atMs
  }
}

type Answer = Extract<AgentEvent, { type: Exclude<(typeof approvalFacts)[number], 'approval.requested'> }>

const isAnswer = (event: AgentEvent): event is Answer =>
  approvalFacts.some((type) => type === event.type && type !== 'approval.requested')

/** A run says so when it continues after a restart. */
const isResumed = (event: AgentEvent): boolean =>
  event.type === 'decision.made' && event.payload.subject === 'retry' && event.payload.choice === 'resume'
