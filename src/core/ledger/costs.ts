import type { SignalOf } from '../../contract/signal.ts'

/** A model call with the money that is known to have gone into it. */
export type PricedCall = Pick<SignalOf<'usage'>, 'responseId' | 'model' | 'usage'> & {
  readonly costUsd: number
}

/**
 * Lays the sum that a CLI says it has spent upon its calls: what it has grown by since the last look went into the
 * last call. Where the beginning was not seen, the first sum is only where counting begins.
 */
export class Costs {
  #spent: number | undefined
  #told: number | undefined
  #last: Omit<PricedCall, 'costUsd'> | undefined
  #ofLast = 0

  constructor(isNew: boolean) {
    this.#spent = isNew ? 0 : undefined
  }

  used({ responseId, model, usage }: SignalOf<'usage'>): void {
    if (this.#last?.responseId !== responseId) this.#ofLast = 0
    this.#last = { responseId, model, usage }
  }

  told(totalUsd: number): void {
    // A smaller sum is that of another beginning.
    if (this.#spent === undefined || totalUsd < this.#spent) this.#spent = totalUsd
    this.#told = totalUsd
  }

  /** The last call with its price, when that is news. */
  take(): PricedCall | undefined {
    if (!this.#last || this.#told === undefined || this.#spent === undefined) return undefined
    const grown = this.#told - this.#spent
    if (grown <= 0) return undefined
    this.#spent = this.#told
    this.#ofLast += grown
    return { ...this.#last, costUsd: this.#ofLast }
  }
}
