import { AppError } from '../../contract/errors.ts'
import type { PayloadOf } from '../../contract/event.ts'
import type { ScriptLimits } from '../../contract/script.ts'
import type { ScriptBudget } from '../../ports/scripts.ts'

type Exceeded = PayloadOf<'budget.exceeded'>

/** A limit of a run that was reached: the run is over, and the script cannot catch it. */
export class LimitReached extends AppError {
  readonly exceeded: Exceeded
  constructor(message: string, exceeded: Exceeded) {
    super('limited', message)
    this.exceeded = exceeded
  }
}

/** Holds a run to its limits; `over` ends it. */
export class Limits {
  readonly #limits: ScriptLimits
  readonly #over: (why: LimitReached) => void
  #asked = 0
  #tokens = 0
  #working = 0
  readonly #waiting: (() => void)[] = []

  constructor(limits: ScriptLimits, over: (why: LimitReached) => void) {
    this.#limits = limits
    this.#over = over
  }

  left(): ScriptBudget {
    const { tokens, agents } = this.#limits
    return {
      tokens: tokens === undefined ? null : Math.max(0, tokens - this.#tokens),
      agents: Math.max(0, agents - this.#asked),
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

  /** Counts what an agent used, each again when the script is: the same limit is reached at the same answer. */
  used(tokens: number): void {
    this.#tokens += tokens
    const { tokens: limit } = this.#limits
    const used = this.#tokens
    if (limit !== undefined && used > limit)
      this.#reached(`it used ${used} of ${limit} tokens`, { budget: 'tokens', used, limit })
  }

  late(minutes: number): void {
    this.#reached(`it took longer than ${minutes} min`, { budget: 'time', used: minutes, limit: minutes })
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
    this.#over(new LimitReached(`${why} and was stopped`, { ...exceeded, action: 'stopped' }))
  }
}
