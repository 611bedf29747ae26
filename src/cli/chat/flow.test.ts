import fc from 'fast-check'
import { expect, test } from 'vitest'
import { textWidth } from '../render/text-width.ts'
import { flow, harmless } from './flow.ts'

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
  expect(harmless('a\u001b[31mb\r\u0007\tc\nd\u202e')).toBe('a[31mb  c\nd')
})
