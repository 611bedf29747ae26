import type { Clock } from '../ports/clock.ts'

const mostKeys = 100

/** What was found a moment ago is given again, where many look for the same one after the other; a failure is not. */
export class Recent<V> {
  readonly #clock: Clock
  readonly #ms: number
  readonly #found = new Map<string, { readonly untilMs: number; readonly value: V }>()

  constructor(clock: Clock, ms: number) {
    this.#clock = clock
    this.#ms = ms
  }

  async get(key: string, find: () => Promise<V>): Promise<V> {
    const known = this.#found.get(key)
    if (known && this.#clock.monotonic() < known.untilMs) return known.value
    const value = await find()
    if (this.#found.size >= mostKeys) this.#found.clear()
    this.#found.set(key, { untilMs: this.#clock.monotonic() + this.#ms, value })
    return value
  }
}
