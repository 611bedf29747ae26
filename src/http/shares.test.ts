import { expect, test } from 'vitest'
import { sampleSession } from '../../test/http/sample-events.ts'
import type { SessionId } from '../contract/ids.ts'
import { Shares } from './shares.ts'

const [root, child, grandchild, stranger] = [1, 2, 3, 4].map(sampleSession) as [
  SessionId,
  SessionId,
  SessionId,
  SessionId,
]
const shares = (held: readonly SessionId[]) => {
  const all = new Shares<number>((id) => (id === stranger ? stranger : root))
  held.forEach((id, n) => all.add(n, id))
  return all
}

test('[MUS-362] the newest of the session that holds most leaves, in the tree that holds most', () => {
  expect(shares([]).next()).toBeUndefined()
  expect(shares([stranger]).next()).toBe(0)
  // The stranger holds more than any one session of the tree, and less than the tree.
  expect(shares([child, child, root, grandchild, stranger, stranger, stranger]).next()).toBe(1)
  expect(shares([stranger, stranger, child, stranger, root]).next()).toBe(3)
})

test('[MUS-362] of equals the one that came last leaves: nobody is turned out for an equal', () => {
  expect(shares([child, stranger]).next()).toBe(1)
  expect(shares([stranger, child]).next()).toBe(1)
  expect(shares([child, root, child, root]).next()).toBe(3)
})

test('[MUS-362] what ended counts no more', () => {
  const all = shares([child, child, stranger])
  all.delete(0)
  expect([all.size, all.of(child), all.next()]).toEqual([2, [1], 2])
})
