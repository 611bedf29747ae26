import { linked } from '../../contract/linked.ts'
/** How soon a change is worth a load: at once, or with the next handful of its kind. */
export type Urgency = 'soon' | 'later'

const delays: Readonly<Record<Urgency, number>> = { soon: 50, later: 1000 }
/** Never more often than ten times a second. */
const leastGapMs = 100
// Some of what is shown settles a moment after the event that tells of it.
const echoMs = 600
// States also age without any event.
const restMs = 30_000

type Time = {
  readonly now: () => number
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
}

/** Decides when to load again: soon after news, never in a storm, rarely without any. */
export class Pace {
  readonly #time: Time
  #dueAt = Number.POSITIVE_INFINITY
  #earliestAt = 0
  #isNews = false
  #changed = Promise.withResolvers<void>()

  constructor(time: Time) {
    this.#time = time
  }

  ring(urgency: Urgency): void {
    this.#isNews = true
    this.#due(this.#time.now() + delays[urgency])
  }

  /** A load that took so long leaves the daemon and this program alone for a multiple of it. */
  took(ms: number): void {
    this.#earliestAt = this.#time.now() + Math.max(leastGapMs, 4 * ms)
  }

  reset(): void {
    this.#dueAt = Number.POSITIVE_INFINITY
    this.#isNews = false
  }

  /** Resolves when it is time to load. */
  async next(signal: AbortSignal): Promise<void> {
    const { now, sleep } = this.#time
    const restAt = now() + restMs
    while (!signal.aborted) {
      const waitMs = Math.max(Math.min(this.#dueAt, restAt), this.#earliestAt) - now()
      if (waitMs <= 0) break
      this.#changed = Promise.withResolvers()
      using enough = linked(signal)
      const late = sleep(waitMs, enough.signal).catch((error: unknown) => {
        if (!enough.signal.aborted) throw error
      })
      await Promise.race([this.#changed.promise, late])
    }
    const wasNews = this.#isNews
    this.reset()
    if (wasNews) this.#dueAt = now() + echoMs
  }

  #due(at: number): void {
    if (at >= this.#dueAt) return
    this.#dueAt = at
    this.#changed.resolve()
  }
}
