import type { StoredEvent } from '../../ports/journal.ts'
import { StoredLine } from './format.ts'

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

/** Followers waiting for the watermark to pass a seq. */
export class Waiters {
  readonly #waiting = new Set<{ after: number; wake: () => void }>()

  wait(after: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason as Error)
        return
      }
      const abort = () => {
        this.#waiting.delete(entry)
        reject(signal.reason as Error)
      }
      const entry = {
        after,
        wake: () => {
          signal.removeEventListener('abort', abort)
          resolve()
        },
      }
      signal.addEventListener('abort', abort, { once: true })
      this.#waiting.add(entry)
    })
  }

  wake(watermark: number): void {
    for (const entry of this.#waiting)
      if (entry.after < watermark) {
        this.#waiting.delete(entry)
        entry.wake()
      }
  }
}
