import fc from 'fast-check'
import { expect, test } from 'vitest'
import { textWidth } from '../render/text-width.ts'
import { clip, fit, fitRight, fold } from './fit.ts'

test('widths of what agents write', () => {
  expect(['abc', '日本', '✅', '⚡', 'e\u0301', '…', '→', ''].map(textWidth)).toEqual([
    3, 4, 2, 2, 1, 1, 1, 0,
  ])
})

test('any text fits exactly', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat(40), (text, width) => {
      expect(textWidth(fit(text, width))).toBe(width)
      expect(textWidth(fitRight(text, width))).toBe(width)
      expect(textWidth(clip(text, width))).toBeLessThanOrEqual(width)
    }),
  )
})

test('a cut is marked, and what fits is left alone', () => {
  expect(clip('hello', 5)).toBe('hello')
  expect(clip('hello!', 5)).toBe('hell…')
  expect(clip('日本語', 4)).toBe('日…')
  expect(clip('x'.repeat(10_000), 3)).toBe('xx…')
})

test('long lines are folded at spaces, short ones keep their indentation', () => {
  expect(fold('  two\n\tthree\nthe quick brown fox', 10)).toEqual([
    '  two',
    '  three',
    'the quick',
    'brown fox',
  ])
  expect(fold('x'.repeat(25), 10)).toEqual(['x'.repeat(10), 'x'.repeat(10), 'x'.repeat(5)])
  expect(fold('日本語日本語', 1)).toHaveLength(6)
})
