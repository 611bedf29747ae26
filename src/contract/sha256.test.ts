import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sha256Hex } from './sha256.ts'

const reference = (data: string | Uint8Array) => createHash('sha256').update(data).digest('hex')

test('a digest is that of node:crypto at every length around a block', () => {
  for (let length = 0; length <= 200; length++) {
    const bytes = Uint8Array.from({ length }, (_, i) => (i * 31 + length) % 256)
    expect(sha256Hex(bytes)).toBe(reference(bytes))
  }
})

test('a digest of any text is that of its UTF-8 bytes', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
      expect(sha256Hex(text)).toBe(reference(text))
    }),
  )
})

test('bytes that are a part of a larger buffer are digested alone', () => {
  const whole = Uint8Array.from({ length: 300 }, (_, i) => i % 256)
  expect(sha256Hex(whole.subarray(17, 217))).toBe(reference(whole.slice(17, 217)))
})

test('a megabyte has the digest of node:crypto', () => {
  const text = 'muster '.repeat(150_000)
  expect(sha256Hex(text)).toBe(reference(text))
})
