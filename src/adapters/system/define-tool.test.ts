import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { boundedOutput } from './define-tool.ts'

test('[MUS-254] an output keeps its beginning and its end, whole characters, and the number of those between', () => {
  const chunks = fc.array(fc.string({ unit: 'grapheme', maxLength: 30 }), { maxLength: 40 })
  fc.assert(
    fc.property(chunks, fc.integer({ min: 2, max: 60 }), (texts, most) => {
      const output = boundedOutput(most)
      for (const text of texts) output.add(text)
      const whole = texts.join('')
      const { text, isTruncated } = output.result()
      expect(text.isWellFormed()).toBe(true)
      const half = Math.floor(most / 2)
      expect(isTruncated).toBe(whole.length > 2 * half)
      if (!isTruncated) {
        expect(text).toBe(whole)
        return
      }
      const [, begin = '', left, end = ''] =
        /^([^]*)\n\[… (\d+) characters left out …\]\n([^]*)$/.exec(text) ?? []
      expect(whole.startsWith(begin) && whole.endsWith(end)).toBe(true)
      expect(Number(left)).toBe(whole.length - 2 * half)
      expect(begin.length + end.length).toBeGreaterThanOrEqual(2 * half - 2)
    }),
  )
})
