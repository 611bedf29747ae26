import { expect, test } from 'vitest'
import { nextDeveloper } from './planned-work.ts'

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
  expect(nextDeveloper(all, tried)?.id).toBe(next)
})

test('[COL-62] who is alone tries again', () => {
  expect(nextDeveloper([{ id: 'a' }], ['a'])?.id).toBe('a')
  expect(nextDeveloper([], ['a'])).toBeUndefined()
})
