import { expect, test } from 'vitest'
import { sampleSession } from '../../test/http/sample-events.ts'
import type { SessionId } from '../contract/ids.ts'
import { topOf } from './who-may.ts'

const [top, middle, low] = [1, 2, 3].map(sampleSession) as [SessionId, SessionId, SessionId]
const above = new Map<SessionId, SessionId>([
  [low, middle],
  [middle, top],
])

test('[MUS-362] what a tree of sessions holds is counted by the session at its top', () => {
  const tree = { parentOf: (id: SessionId) => above.get(id) }
  expect([low, middle, top].map((id) => topOf(tree, id))).toEqual([top, top, top])
})

test('[MUS-362] nobody waits for a session that has to be looked up, nor for a circle, nor for a look that fails', async () => {
  const slow = { parentOf: (id: SessionId) => (id === low ? middle : Promise.reject(new Error('no index'))) }
  expect(topOf(slow, low)).toBe(middle)
  const circle = { parentOf: (id: SessionId) => (id === low ? middle : low) }
  expect([low, middle]).toContain(topOf(circle, low))
  await new Promise((resolve) => setImmediate(resolve))
})
