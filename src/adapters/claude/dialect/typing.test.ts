import { expect, test } from 'vitest'
import { typing } from './typing.ts'
import { isAtLeast, versionIn } from './version.ts'

test('[MUS-237] Enter waits longer after a paste where it was seen to get lost', () => {
  expect(typing('2.1.197').settleMs).toBe(400)
  expect(typing('2.1.325').settleMs).toBe(120)
  expect(typing('3.0.0').settleMs).toBe(120)
  expect(typing('').settleMs).toBe(400)
})

test('[MUS-237] a long paste is known by its marker', () => {
  const { marker } = typing('2.1.325')
  for (const shown of [
    '[Pasted text #1 +4 lines]',
    '[Pasted text #12]',
    '[Pasted text #2 +39 lines] and more',
  ])
    expect(marker?.test(shown)).toBe(true)
  expect(marker?.test('Pasted text')).toBe(false)
})

test('[SM-44] versions are compared by their numbers', () => {
  expect(isAtLeast('2.1.1000', '2.1.325')).toBe(true)
  expect(isAtLeast('2.1.99', '2.1.200')).toBe(false)
  expect(isAtLeast('2.2.0', '2.1.325')).toBe(true)
  expect(isAtLeast('unknown', '0.0.0')).toBe(false)
  expect(versionIn('2.1.325 (Claude Code)\n')).toBe('2.1.325')
  expect(versionIn('claude')).toBeUndefined()
})
