import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { jsonSyntaxError } from './json-syntax.ts'

const jsonErrorAt = (text: string) => jsonSyntaxError(text).offset
const isJson = (text: string) => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

test.each([
  ['', 0],
  ['   ', 3],
  ['{', 1],
  ['{"a"', 4],
  ['{"a" 1}', 5],
  ['{"a":}', 5],
  ['{"a":1,}', 7],
  ['{a:1}', 1],
  ['[1,]', 3],
  ['[1 2]', 3],
  ['[1}', 2],
  ['nul', 0],
  ['01', 1],
  ['1.', 1],
  ['"a', 2],
  ['"a\nb"', 2],
  ['"\\x"', 1],
  ['"\\u12g4"', 1],
  ['{} {}', 3],
  ['undefined', 0],
])('[MUS-90] %j stops being JSON at %i', (text, at) => {
  expect(isJson(text)).toBe(false)
  expect(jsonErrorAt(text)).toBe(at)
})

test('[MUS-90] what is JSON has no such place', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 4 }), fc.constantFrom('', ' ', '\n\t\r'), (text, space) => {
      expect(jsonErrorAt(space + text + space)).toBe((space + text + space).length)
    }),
  )
})

test('[MUS-90] a character that no JSON has is found where it is, or at the word it broke', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 4 }), fc.nat(), (text, n) => {
      const cut = n % (text.length + 1)
      const at = jsonErrorAt(`${text.slice(0, cut)}\0${text.slice(cut)}`)
      expect(at).toBeLessThanOrEqual(cut)
      expect(text.slice(at, cut)).toMatch(/^(?:[a-z]{0,4}|\\u?[\da-fA-F]{0,3}|[-+.eE\d]*)$/)
    }),
  )
})

test('[MUS-90] deep and long texts do not exhaust the stack', () => {
  expect(jsonErrorAt('['.repeat(200_000))).toBe(200_000)
  const long = `"${'a'.repeat(5_000_000)}`
  expect(jsonErrorAt(long)).toBe(long.length)
})
