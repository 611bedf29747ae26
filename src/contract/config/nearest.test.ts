import fc from 'fast-check'
import { expect, test } from 'vitest'
import { nearest } from './nearest.ts'

const known = ['mode', 'auto_complete', 'cleanup', 'default_command', 'idle_timeout']

test.each([
  ['moed', 'mode'],
  ['auto_complet', 'auto_complete'],
  ['autoComplete', 'auto_complete'],
  ['auto-complete', 'auto_complete'],
  ['command', 'default_command'],
  ['IDLE_TIMEOUT', 'idle_timeout'],
])('[MUS-138] %s means %s', (word, meant) => {
  expect(nearest(word, known)).toBe(meant)
})

test.each(['zebra', 'x', '', 'modulation'])('[MUS-138] %j is near nothing', (word) => {
  expect(nearest(word, known)).toBeUndefined()
})

test('[MUS-138] a known word always means itself, and one slip in a long word is forgiven', () => {
  const word = fc.constantFrom(...known)
  fc.assert(
    fc.property(word, fc.nat(), (right, at) => {
      expect(nearest(right, known)).toBe(right)
      const cut = at % right.length
      expect(nearest(right.slice(0, cut) + right.slice(cut + 1), known)).toBe(right)
    }),
  )
})
