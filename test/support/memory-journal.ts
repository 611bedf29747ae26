import type { AgentEvent } from '../../src/contract/event.ts'
import type { JournalReader, StoredEvent } from '../../src/ports/journal.ts'

/** A journal in memory, for tests of what reads one. */
export type MemoryJournal = JournalReader & {
  /** Makes events durable at once; answers what was stored. */
  append(...events: readonly Omit<AgentEvent, 'seq'>[]): readonly StoredEvent[]
  /** Forgets everything before a seq. */
  prune(before: number): void
  /** How many events readers were given so far, counting repeats. */
  given(): number
}

export function memoryJournal(): MemoryJournal {
  let stored: StoredEvent[] = []
  let next = 1
  let given = 0
  const waiting = new Set<() => void>()
  return {
    watermark: () => next - 1,
    oldest: () => stored[0]?.seq ?? next,
    async page(after, limit) {
      const first = stored[0]?.seq ?? next
      const from = Math.max(0, after + 1 - first)
      const page = stored.slice(from, from + limit)
      given += page.length
      return page
    },
    wait(after, signal) {
      return new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason as Error)
        if (after < next - 1) return resolve()
        const settle = (done: () => void) => {
          waiting.delete(look)
          signal.removeEventListener('abort', abort)
          done()
        }
        const look = () => {
          if (after < next - 1) settle(resolve)
        }
        const abort = () => settle(() => reject(signal.reason as Error))
        waiting.add(look)
        signal.addEventListener('abort', abort, { once: true })
      })
    },
    append(...events) {
      const batch = events.map((draft): StoredEvent => {
        const event = { seq: next++, ...draft } as AgentEvent
        return { seq: event.seq, line: JSON.stringify(event), event }
      })
      stored.push(...batch)
      for (const look of waiting) look()
      return batch
    },
    prune(before) {
      stored = stored.filter(({ seq }) => seq >= before)
    },
    given: () => given,
  }
}
