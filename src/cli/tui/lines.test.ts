import fc from 'fast-check'
import { expect, test } from 'vitest'
import { harmlessStream } from '../render/safe-text.ts'
import { textWidth } from '../render/text-width.ts'
import { clip, fit, fitRight, flow, fold } from './lines.ts'

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

const whole = (text: string, width: number): string[] => {
  const { lines, rest } = flow(text, width)
  return [...lines, rest.trimEnd()]
}

test('[MUS-273] lines break at spaces, keep their own ends and indentation, and fit', () => {
  expect(whole('one two three four', 10)).toEqual(['one two', 'three four'])
  expect(whole('  a\n\n  b', 10)).toEqual(['  a', '', '  b'])
  expect(whole('日本語日本語', 5)).toEqual(['日本', '語日', '本語'])
  expect(whole('x'.repeat(12), 5)).toEqual(['xxxxx', 'xxxxx', 'xx'])
})

test('[MUS-273] it does not matter in which pieces a text comes', () => {
  const word = fc.constantFrom('a', 'word', 'longer-word', '日本', '👩‍👩‍👧', ' ', '  ', '\n')
  fc.assert(
    fc.property(fc.array(word, { maxLength: 40 }), fc.integer({ min: 4, max: 30 }), (words, width) => {
      const committed: string[] = []
      let rest = ''
      for (const piece of words) {
        const flowed = flow(rest + piece, width)
        committed.push(...flowed.lines)
        rest = flowed.rest
      }
      const streamed = [...committed, rest.trimEnd()]
      expect(streamed).toEqual(whole(words.join(''), width))
      for (const line of streamed) expect(textWidth(line)).toBeLessThanOrEqual(width)
    }),
  )
})

test('[MUS-273] nothing of a model moves the cursor', () => {
  expect(harmlessStream('a\u001b[31mb\r\u0007\tc\nd\u202e')).toBe('a[31mb  c\nd')
})
