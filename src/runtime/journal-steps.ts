import type { Draft } from '../contract/event.ts'
import type { Root } from '../engine/sessions/drafts.ts'
import type { Clock } from '../ports/clock.ts'
import type { StepGiven, Steps } from '../ports/durable.ts'
import type { Recorder } from './recorder.ts'

type Given = {
  readonly id: string
  readonly root: Root
  readonly signal: AbortSignal
  readonly recorder: Recorder
  readonly clock: Clock
}

/** Steps that go straight into the journal: what is cut off is not done again, and whoever asked for it is told. */
export class JournalSteps implements Steps {
  readonly #given: Given

  constructor(given: Given) {
    this.#given = given
  }

  get id(): string {
    return this.#given.id
  }

  get signal(): AbortSignal {
    return this.#given.signal
  }

  root(): Root {
    return this.#given.root
  }

  async step<T>(_name: string, act: (given: StepGiven) => Promise<T>): Promise<T> {
    const { signal, recorder } = this.#given
    signal.throwIfAborted()
    const facts: Draft[] = []
    const value = await act({
      signal,
      isAgain: false,
      gave: undefined,
      tell: (...more) => void facts.push(...more),
      count: () => {},
    })
    // What was stopped has not come to anything.
    signal.throwIfAborted()
    recorder.record(facts)
    await recorder.durable()
    return value
  }

  async sleep(_name: string, ms: number): Promise<void> {
    await this.#given.clock.sleep(ms, this.#given.signal)
  }
}
