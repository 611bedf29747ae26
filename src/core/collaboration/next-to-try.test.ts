import { expect, test } from 'vitest'
import { nextToTry } from './next-to-try.ts'

const all = ['a', 'b', 'c'].map((id) => ({ id }))

test.each([
  [['a'], 'b'],
  [['c'], 'a'],
  [['a', 'a'], 'b'],
  [['b', 'a'], 'c'],
  [['a', 'c', 'a'], 'b'],
  [['a', 'b', 'c'], 'a'],
  [['c', 'a', 'b'], 'c'],
])('[COL-62] after %j it is the turn of %s', (tried, next) => {
  expect(nextToTry(all, tried)?.id).toBe(next)
})

test('[COL-62] who is alone tries again', () => {
  expect(nextToTry([{ id: 'a' }], ['a'])?.id).toBe('a')
  expect(nextToTry([], ['a'])).toBeUndefined()
})
