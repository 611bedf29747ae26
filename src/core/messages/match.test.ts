import { expect, test } from 'vitest'
import { holdsText, isSameText } from './message-text.ts'

test('[SM-42] a prompt is the receipt of a text only when it has all of it', () => {
  const long = `${'word '.repeat(500)}the end`
  expect(holdsText(long, long)).toBe(true)
  expect(holdsText(`a note before\n${long}\n`, long)).toBe(true)
  expect(holdsText(long.slice(0, 2000), long)).toBe(false)
  expect(holdsText('a\tb\u0007  c', 'a b c')).toBe(true)
  expect(holdsText('caf\u00e9', 'cafe\u0301')).toBe(true)
  expect(holdsText('ok then', 'ok')).toBe(false)
  expect(holdsText('anything', '')).toBe(false)
})

test('[SM-42] of a text with something redacted, what stands before it is compared', () => {
  expect(isSameText('use the key abc for all of it', 'use the key [redacted:api-key] for all of it')).toBe(
    true,
  )
  expect(isSameText('abc for all of it', '[redacted:api-key] for all of it')).toBe(false)
  expect(isSameText('whatever', '')).toBe(false)
})
