import type { AgentEvent, EventType } from '../../contract/event.ts'

/** What shows that a person was asked, and answered. */
export const askFacts = [
  'approval.requested',
  'approval.granted',
  'approval.rejected',
  'approval.expired',
] as const satisfies readonly EventType[]

/** How long work stood still, by its record: a person was asked, or nobody was there to go on with it. */
export class Standstill {
  readonly #asked = new Set<string>()
  #lastMs: number | undefined
  #stoodMs = 0

  /** The next fact of the work. */
  take(event: AgentEvent): void {
    this.#pass(Date.parse(event.timestamp), isBack(event))
    if (event.type === 'approval.requested') this.#asked.add(event.payload.approvalId)
    else if (isAnswer(event)) this.#asked.delete(event.payload.approvalId)
  }

  /** Until now; of work that goes on by itself only what it waited for a person. */
  ms(nowMs: number, { isAway }: { readonly isAway: boolean }): number {
    this.#pass(nowMs, isAway)
    return this.#stoodMs
  }

  #pass(atMs: number, stood: boolean): void {
    if (this.#lastMs !== undefined && (stood || this.#asked.size > 0))
      this.#stoodMs += Math.max(0, atMs - this.#lastMs)
    this.#lastMs = atMs
  }
}

type Answer = Extract<AgentEvent, { type: Exclude<(typeof askFacts)[number], 'approval.requested'> }>

const isAnswer = (event: AgentEvent): event is Answer =>
  askFacts.some((type) => type === event.type && type !== 'approval.requested')

/** A run says so when it goes on after a restart. */
const isBack = (event: AgentEvent): boolean =>
  event.type === 'decision.made' && event.payload.subject === 'retry' && event.payload.choice === 'resume'
