import type * as z from 'zod'
import type { AgentEvent } from '../../contract/event.ts'
import type { SignalOf } from '../../contract/signal.ts'
import type { Tokens } from '../../contract/values.ts'

/** What one event says of one model call. Calls are told apart by response id, and the last report wins. */
export type ModelCall = {
  readonly responseId: string
  /** A correction knows the figures but not always where the call was made. */
  readonly isCorrection: boolean
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly reasoning: number
  readonly tokens: number
  /** Billionths of a dollar: whole numbers, so that sums of leaves are exact. */
  readonly costNano: number | undefined
  /** The part of it that was computed with a price list. */
  readonly estimatedNano: number | undefined
}

/** The leaf of the token ledger in an event, if it has one. */
export function modelCall(event: AgentEvent): ModelCall | undefined {
  if (event.type !== 'llm.request.completed' && event.type !== 'llm.usage.corrected') return undefined
  const { responseId, usage, costUsd, priceList } = event.payload
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0, reasoning = 0 } = usage
  const costNano = costUsd === undefined ? undefined : toNano(costUsd)
  return {
    responseId,
    isCorrection: event.type === 'llm.usage.corrected',
    input,
    output,
    cacheRead,
    cacheWrite,
    reasoning,
    // Reasoning tokens are part of the output in every provider's count.
    tokens: tokenTotal(usage),
    costNano,
    estimatedNano: costNano !== undefined && priceList === undefined ? 0 : costNano,
  }
}

/** A price in dollars as whole billionths. */
const toNano = (usd: number): number => Math.min(Math.round(usd * 1e9), Number.MAX_SAFE_INTEGER)

/** All tokens of a model call: as its provider adds them up, else the sum of what it told. */
export const tokenTotal = ({
  total,
  input = 0,
  output = 0,
  cacheRead = 0,
  cacheWrite = 0,
}: z.infer<typeof Tokens>): number => total ?? input + output + cacheRead + cacheWrite

/** A model call with the money that is known to have gone into it. */
type PricedCall = Pick<SignalOf<'usage'>, 'responseId' | 'model' | 'usage'> & {
  readonly costUsd: number
}

/**
 * Lays the sum that a CLI says it has spent upon its calls: what it has grown by since the last look went into the
 * last call. Where the beginning was not seen, the first sum is only where counting begins.
 */
export class ReportedCosts {
  #spent: number | undefined
  #told: number | undefined
  #last: Omit<PricedCall, 'costUsd'> | undefined
  #ofLast = 0
  /** The last call was priced before a restart: what it cost then is in the journal and would be replaced. */
  #isLastRecorded = false

  constructor(isNew: boolean) {
    this.#spent = isNew ? 0 : undefined
  }

  used({ responseId, model, usage }: SignalOf<'usage'>, isRecorded = false): void {
    if (this.#last?.responseId !== responseId) {
      this.#ofLast = 0
      this.#isLastRecorded = isRecorded
    }
    this.#last = { responseId, model, usage }
  }

  told(totalUsd: number): void {
    // A smaller sum is that of another beginning.
    if (this.#spent === undefined || totalUsd < this.#spent) this.#spent = totalUsd
    this.#told = totalUsd
  }

  /** The last call with its price, when that is news; what no call of this life can carry waits for the next one. */
  take(): PricedCall | undefined {
    if (!this.#last || this.#isLastRecorded || this.#told === undefined || this.#spent === undefined)
      return undefined
    const grown = this.#told - this.#spent
    if (grown <= 0) return undefined
    this.#spent = this.#told
    this.#ofLast += grown
    return { ...this.#last, costUsd: this.#ofLast }
  }
}
