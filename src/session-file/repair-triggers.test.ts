import { expect, test } from 'vitest'
import { freeNames } from './repair-triggers.ts'

test('[LOG-127] a name that is taken gets the next number, also among those given before', () => {
  const free = freeNames(['a', 'a~3'])
  expect([free('b'), free('a'), free('a'), free('a'), free('b'), free('a~3')]).toEqual([
    'b',
    'a~2',
    'a~4',
    'a~5',
    'b~2',
    'a~3~2',
  ])
})

test('[LOG-127] a hundred thousand records that want one name do not search for it again and again', () => {
  const free = freeNames([])
  const names = Array.from({ length: 100_000 }, () => free('x'))
  expect([new Set(names).size, names.at(-1)]).toEqual([100_000, 'x~100000'])
})
