import type { Draft } from '../contract/event.ts'
import type { Clock } from '../ports/clock.ts'

/** Facts, or what makes them once something beside them is kept. */
export type Facts = readonly Draft[] | (() => Promise<readonly Draft[]>)

type RecorderDeps = {
  readonly perform: (drafts: readonly Draft[]) => Promise<unknown>
  /** After it nothing more is written: whoever is told ends the run. */
  readonly onFailure: (error: unknown) => void
  readonly clock: Clock
}

/** Long enough for a run to ask its model again: the writing is done while it waits for the answer. */
const lullMs = 20

const never = new AbortController().signal

/**
 * Writes the facts of a run in the order they came, a few moments of them at a time, while the run goes on.
 * What must not happen before its fact is on disk waits for `durable`, which is served at once.
 */
export class Recorder {
  readonly #deps: RecorderDeps
  #waiting: (() => Promise<readonly Draft[]>)[] = []
  #writing: Promise<void> | undefined
  #isDue = false
  #hurrying = 0
  #failure: { readonly error: unknown } | undefined

  constructor(deps: RecorderDeps) {
    this.#deps = deps
  }

  readonly record = (facts: Facts): void => {
    if (this.#failure) return
    const timestamp = new Date(this.#deps.clock.now()).toISOString()
    const dated = (drafts: readonly Draft[]) => drafts.map((draft) => ({ timestamp, ...draft }))
    this.#waiting.push(async () => dated(typeof facts === 'function' ? await facts() : facts))
    this.#rest()
  }

  /** Resolves when everything that was recorded by now is on disk. */
  readonly durable = async (): Promise<void> => {
    this.#hurrying += 1
    try {
      while (this.#writing || this.#waiting.length > 0) await (this.#writing ??= this.#write())
    } finally {
      this.#hurrying -= 1
    }
    if (this.#failure) throw this.#failure.error
  }

  /** Lets more come before what waits is written. */
  #rest(): void {
    if (this.#isDue || this.#writing || this.#waiting.length === 0) return
    this.#isDue = true
    void this.#deps.clock.sleep(lullMs, never).then(() => {
      this.#isDue = false
      if (this.#waiting.length > 0) this.#writing ??= this.#write()
    })
  }

  async #write(): Promise<void> {
    try {
      do {
        const batch = this.#waiting
        this.#waiting = []
        await this.#deps.perform((await Promise.all(batch.map((facts) => facts()))).flat())
      } while (this.#hurrying > 0 && this.#waiting.length > 0)
    } catch (error) {
      this.#failure = { error }
      this.#waiting = []
      this.#deps.onFailure(error)
    } finally {
      this.#writing = undefined
      this.#rest()
    }
  }
}
