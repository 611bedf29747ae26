import fc from 'fast-check'
import { expect, test } from 'vitest'
import { retryDelay } from './retry-delay.ts'

const policy = { maxAttempts: 4, firstMs: 1000, longestMs: 60_000 }
const chance = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true })

test('[MUS-252] waits grow, are never all the same, and stay under the longest', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 30 }), chance, (attempt, by) => {
      const many = { ...policy, maxAttempts: 100 }
      const ms = retryDelay({ attempt, isPassing: true }, many, by) ?? 0
      const most = Math.min(60_000, 1000 * 2 ** (attempt - 1))
      expect(ms).toBeGreaterThanOrEqual(most / 2)
      expect(ms).toBeLessThanOrEqual(most)
    }),
  )
})

test('[MUS-252] what the provider asks for is waited at least, unless it is too long for anybody', () => {
  expect(retryDelay({ attempt: 1, isPassing: true, retryAfterMs: 7000 }, policy, 0.5)).toBe(7000)
  expect(retryDelay({ attempt: 1, isPassing: true, retryAfterMs: 60_001 }, policy, 0.5)).toBeUndefined()
})

test('[MUS-252] what will not pass is not tried again, and nothing is tried for ever', () => {
  expect(retryDelay({ attempt: 1, isPassing: false }, policy, 0)).toBeUndefined()
  expect(retryDelay({ attempt: 4, isPassing: true }, policy, 0)).toBeUndefined()
})
