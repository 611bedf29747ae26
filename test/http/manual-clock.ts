import type { Clock } from '../../src/ports/clock.ts'

/** A clock that stands still until it is moved. */
export type ManualClock = Clock & {
  advance(ms: number): void
  /** How many sleep now. */
  sleepers(): number
}

export function manualClock(): ManualClock {
  let now = 0
  const sleeping = new Set<{ readonly at: number; readonly wake: () => void }>()
  return {
    now: () => 1_700_000_000_000 + now,
    monotonic: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason as Error)
        const abort = () => {
          sleeping.delete(sleeper)
          reject(signal.reason as Error)
        }
        const sleeper = {
          at: now + ms,
          wake: () => {
            sleeping.delete(sleeper)
            signal.removeEventListener('abort', abort)
            resolve()
          },
        }
        sleeping.add(sleeper)
        signal.addEventListener('abort', abort, { once: true })
      }),
    advance(ms) {
      now += ms
      for (const sleeper of sleeping) if (sleeper.at <= now) sleeper.wake()
    },
    sleepers: () => sleeping.size,
  }
}
