import { systemClock } from '../../src/adapters/system/clock.ts'
import { linked } from '../../src/contract/linked.ts'
import type { Clock } from '../../src/ports/clock.ts'

/** The clock of this machine, which a test can put forward: who sleeps is awake as soon as its time has come. */
export type LeapingClock = Clock & { leap(ms: number): void }

export function leapingClock(): LeapingClock {
  let aheadMs = 0
  const sleeping = new Set<() => void>()
  const now = () => systemClock.now() + aheadMs
  return {
    now,
    monotonic: () => systemClock.monotonic() + aheadMs,
    async sleep(ms, signal) {
      const untilMs = now() + ms
      while (now() < untilMs) {
        using either = linked(signal)
        const wake = () => either.abort()
        sleeping.add(wake)
        await systemClock.sleep(untilMs - now(), either.signal).catch(() => signal.throwIfAborted())
        sleeping.delete(wake)
      }
    },
    leap(ms) {
      aheadMs += ms
      for (const wake of sleeping) wake()
    },
  }
}
