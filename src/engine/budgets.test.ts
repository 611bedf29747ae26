import { expect, test } from 'vitest'
import type { Clock } from '../ports/clock.ts'
import { workTime } from './budgets.ts'

/** How long work of ten seconds lasts that waits for a person during some of them. */
async function lasts(isWaiting: (now: number) => boolean, beganMs = 0): Promise<number> {
  let now = beganMs
  const clock: Clock = {
    now: () => now,
    monotonic: () => now,
    sleep: async (ms) => void (now += ms),
  }
  await workTime(clock, { untilMs: 10_000, isWaiting: () => isWaiting(now) }, new AbortController().signal)
  return now
}

test('[COL-67] the time of a task does not run while it waits for a person', async () => {
  expect(await lasts(() => false)).toBe(10_000)
  expect(await lasts((now) => now >= 3000 && now < 60_000)).toBe(67_000)
})

test('[COL-67] nobody is late while it waits for a person, also when its time was over before anybody looked', async () => {
  expect(await lasts((now) => now < 30_000, 20_000)).toBe(30_000)
  expect(await lasts((now) => now >= 10_000 && now < 30_000)).toBe(30_000)
})
