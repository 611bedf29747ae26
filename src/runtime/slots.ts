import type { Model } from '../ports/model.ts'

/** Lets only so many runs speak with a model at one time; the others wait in the order they came. */
export class Slots {
  readonly #most: () => number
  #taken = 0
  readonly #waiting: (() => void)[] = []

  constructor(most: () => number) {
    this.#most = most
  }

  /** The same model, behind the slots. */
  guard(model: Model): Model {
    return {
      ...model,
      turn: async (request, options) => {
        await this.#take(options.signal)
        try {
          return await model.turn(request, options)
        } finally {
          this.#taken -= 1
          this.#waiting.shift()?.()
        }
      },
    }
  }

  async #take(signal: AbortSignal): Promise<void> {
    while (this.#taken >= this.#most()) await this.#turn(signal)
    this.#taken += 1
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(go), 1)
        reject(signal.reason as Error)
      }
      const go = () => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      if (signal.aborted) return reject(signal.reason as Error)
      signal.addEventListener('abort', leave, { once: true })
      this.#waiting.push(go)
    })
  }
}
