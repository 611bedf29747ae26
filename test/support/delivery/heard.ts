import type { Taken } from './check.ts'

/**
 * What one conversation told its model, in order and each occurrence once. It is sent again and again; what is new in
 * it is what it has more of than the last time. A prompt that was interrupted before its answer leaves it, so that the
 * same words may be new once more.
 */
export class Heard {
  readonly all: Taken[] = []
  #last: ReadonlyMap<string, number> = new Map()

  /** Takes all that one request tells; answers what is new. */
  listen(told: readonly Taken[]): readonly Taken[] {
    const counts = new Map<string, number>()
    const added = told.filter(({ how, text }) => {
      const key = `${how} ${text.trim()}`
      const count = (counts.get(key) ?? 0) + 1
      counts.set(key, count)
      return count > (this.#last.get(key) ?? 0)
    })
    this.#last = counts
    this.all.push(...added)
    return added
  }
}
