import fc from 'fast-check'
import { expect, test } from 'vitest'
import { clip, oneLine, plainText, preview } from './row-text.ts'

const blob = { $blob: `sha256:${'a'.repeat(64)}`, bytes: 9, pack: 1, offset: 0, preview: 'its beginning' }

test('[MUS-16] a cut text is as long as it may be, ends in an ellipsis and never in half a character', () => {
  expect(clip('abcdef', 6)).toBe('abcdef')
  expect(clip('abcdef', 5)).toBe('abcd…')
  expect(clip('abc😀f', 5)).toBe('abc…')
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme', maxLength: 30 }),
      fc.integer({ min: 2, max: 20 }),
      (text, max) => {
        const cut = clip(text, max)
        expect(cut.length).toBeLessThanOrEqual(max)
        expect(cut.isWellFormed()).toBe(true)
      },
    ),
  )
})

test('[MUS-16] a line has single spaces and no breaks, and nothing to show is nothing', () => {
  expect(oneLine('  a\n\tb  c ')).toBe('a b c')
  expect(oneLine(' \n ')).toBeUndefined()
  expect(oneLine(undefined)).toBeUndefined()
  expect(oneLine('x'.repeat(900))).toHaveLength(200)
  expect(oneLine({ why: ['because', 7] })).toBe('because 7')
})

test('[MUS-42] of a blob only the preview is used', () => {
  expect(oneLine(blob)).toBe('its beginning')
  expect(preview(blob)).toBe('its beginning')
  expect(plainText({ result: [blob] }, 100)).toBe('its beginning')
})

test('[MUS-46] the names of vault entries are not text', () => {
  expect(plainText({ preview: 'hello', vault: 'sha256:abc' }, 100)).toBe('hello')
})

test('[MUS-16] text is taken from JSON in order and up to a length, however deep or long it is', () => {
  expect(plainText({ a: 'one', b: [{ c: 'two' }, null, true, 3] }, 100)).toBe('one two 3')
  let deep: unknown = 'bottom'
  for (let i = 0; i < 100_000; i++) deep = [deep]
  expect(plainText(deep, 100)).toBe('')
  expect(
    plainText(
      Array.from({ length: 1000 }, () => 'x'.repeat(50)),
      120,
    ).length,
  ).toBeLessThanOrEqual(130)
})
