import type { PayloadOf } from '../../contract/event.ts'
import type { ScriptLimits } from '../../contract/script.ts'
import { LimitReached } from '../../ports/durable.ts'
import type { ScriptBudget } from '../../ports/scripts.ts'

type Exceeded = PayloadOf<'budget.exceeded'>

/** Holds a run to the limits that are not counted in tokens or money; `over` ends it. */
export class Limits {
  readonly #limits: ScriptLimits
  readonly #spent: () => number
  readonly #over: (why: LimitReached) => void
  #asked = 0
  #working = 0
  readonly #waiting: (() => void)[] = []

  constructor(
    limits: ScriptLimits,
    { spent, over }: { readonly spent: () => number; readonly over: (why: LimitReached) => void },
  ) {
    this.#limits = limits
    this.#spent = spent
    this.#over = over
  }

  /** What is left when so much money is known to be spent. */
  left(spentUsd: number): ScriptBudget {
    const { tokens, agents, usd } = this.#limits
    return {
      tokens: tokens === undefined ? null : Math.max(0, tokens - this.#spent()),
      agents: Math.max(0, agents - this.#asked),
      usd: usd === undefined ? null : Math.max(0, usd - spentUsd),
    }
  }

  /** Counts one more agent that was asked for, also one that was answered before a crash. */
  asks(): void {
    const { agents: limit } = this.#limits
    this.#asked += 1
    if (this.#asked > limit)
      this.#reached(`it asked for more than ${limit} agents`, {
        budget: 'iterations',
        scope: 'agents',
        used: this.#asked,
        limit,
      })
  }

  /** Does something when there is room for it; those who wait get it in the order in which they came. */
  async within<T>(act: () => Promise<T>): Promise<T> {
    if (this.#working >= this.#limits.concurrency)
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else this.#working += 1
    try {
      return await act()
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#working -= 1
    }
  }

  #reached(why: string, exceeded: Exceeded): void {
    this.#over(new LimitReached(why, { ...exceeded, action: 'stopped' }))
  }
}
