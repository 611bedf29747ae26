import type { Draft } from '../contract/event.ts'

/** Facts, or what becomes facts once something beside them is kept. */
export type Facts = readonly Draft[] | Promise<readonly Draft[]>

/**
 * Writes the facts of a run in the order they came, as many at a time as have come, while the run goes on.
 * What must not happen before its fact is on disk waits for `durable`.
 */
export class Recorder {
  readonly #perform: (drafts: readonly Draft[]) => Promise<void>
  readonly #onFailure: (error: unknown) => void
  #waiting: Facts[] = []
  #writing: Promise<void> | undefined
  #failure: { readonly error: unknown } | undefined

  /** After a failure nothing more is written: whoever is told of it ends the run. */
  constructor(perform: (drafts: readonly Draft[]) => Promise<void>, onFailure: (error: unknown) => void) {
    this.#perform = perform
    this.#onFailure = onFailure
  }

  readonly record = (facts: Facts): void => {
    if (this.#failure) return
    // Whoever waits for it is told; nobody else need be.
    if (facts instanceof Promise) facts.catch(() => {})
    this.#waiting.push(facts)
    this.#writing ??= this.#write()
  }

  /** Resolves when everything that was recorded by now is on disk. */
  readonly durable = async (): Promise<void> => {
    while (this.#writing) await this.#writing
    if (this.#failure) throw this.#failure.error
  }

  async #write(): Promise<void> {
    // What is recorded in the same turn of the run goes together.
    await Promise.resolve()
    try {
      while (this.#waiting.length > 0) {
        const batch = this.#waiting
        this.#waiting = []
        await this.#perform((await Promise.all(batch.map(async (facts) => facts))).flat())
      }
    } catch (error) {
      this.#failure = { error }
      this.#waiting = []
      this.#onFailure(error)
    } finally {
      this.#writing = undefined
    }
  }
}
