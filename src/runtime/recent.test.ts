import { expect, test } from 'vitest'
import { systemClock } from '../adapters/system/clock.ts'
import { Recent } from './workflow-agents.ts'

test('[MUS-281] what was found a moment ago is not looked for again, what failed or is older is', async () => {
  let nowMs = 0
  const recent = new Recent<number>({ ...systemClock, monotonic: () => nowMs }, 1000)
  let looks = 0
  const look = async () => {
    looks += 1
    if (looks === 1) throw new Error('not yet')
    return looks
  }
  await expect(recent.get('a', look)).rejects.toThrow('not yet')
  expect(await recent.get('a', look)).toBe(2)
  nowMs = 999
  expect(await recent.get('a', look)).toBe(2)
  expect(await recent.get('b', look)).toBe(3)
  nowMs = 1000
  expect(await recent.get('a', look)).toBe(4)
})
