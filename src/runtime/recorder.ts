import type { Draft } from '../contract/event.ts'
import type { Clock } from '../ports/clock.ts'

/** Facts, or what makes them once something beside them is kept. */
export type Facts = readonly Draft[] | (() => Promise<readonly Draft[]>)

type Dated = () => Promise<readonly Draft[]>
type Telling = { readonly tell: () => void }

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
  #waiting: (Dated | Telling)[] = []
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

  /** Tells what is not recorded in its place among the facts: when all before it can be read, and before those after it. */
  readonly tell = (tell: () => void): void => {
    if (this.#failure) return
    if (this.#writing || this.#waiting.length > 0) this.#waiting.push({ tell })
    else tell()
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
        await this.#writeBatch(batch)
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

  async #writeBatch(batch: readonly (Dated | Telling)[]): Promise<void> {
    for (let at = 0; at < batch.length; ) {
      const entry = batch[at]
      if (entry && 'tell' in entry) {
        entry.tell()
        at += 1
        continue
      }
      const facts: Dated[] = []
      for (let next = batch[at]; next && !('tell' in next); next = batch[++at]) facts.push(next)
      await this.#deps.perform((await Promise.all(facts.map((made) => made()))).flat())
    }
    for (let [next] = this.#waiting; next && 'tell' in next; [next] = this.#waiting) {
      this.#waiting.shift()
      next.tell()
    }
  }
}
