import type { StoredEvent } from '../../ports/journal.ts'
import { StoredLine } from './stored.ts'

/** The newest durable events, shared by all live followers: a hundred clients cost one copy. */
export class Recent {
  readonly #maxBytes: number
  #events: StoredEvent[] = []
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Only the text is kept: an event's objects would be ten times as many for the garbage collector to look at. */
  push(lines: readonly string[], firstSeq: number): void {
    let seq = firstSeq
    for (const line of lines) {
      this.#events.push(new StoredLine(line, seq++))
      this.#bytes += line.length
    }
    if (this.#bytes > this.#maxBytes) this.#dropOldest()
  }

  /** Events after a seq, or undefined when they are no longer all here. */
  after(seq: number, limit: number): readonly StoredEvent[] | undefined {
    const first = this.#events[0]
    if (!first || seq + 1 < first.seq) return undefined
    const from = seq + 1 - first.seq
    return this.#events.slice(from, from + limit)
  }

  clear(): void {
    this.#events = []
    this.#bytes = 0
  }

  // Half at a time: dropping one by one would shift the array at every event.
  #dropOldest(): void {
    let drop = 0
    while (this.#bytes > this.#maxBytes / 2 && drop < this.#events.length)
      this.#bytes -= (this.#events[drop++] as StoredEvent).line.length
    this.#events = this.#events.slice(drop)
  }
}
