import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../ports/clock.ts'

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, { signal }),
}
