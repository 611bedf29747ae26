import { expect, test } from 'vitest'
import { codingCliNames } from '../../../src/contract/agent-clis.ts'
import { edgesOf, planMessages } from './plan.ts'

const chars = (text: string) => Array.from(text).length
const lines = (text: string) => text.split('\n').length

test.for(codingCliNames)(
  '[MUS-324] what %s is sent has 1 to 50,000 characters in 1 to 400 lines, its edges first',
  (cli) => {
    const edges = edgesOf(cli)
    for (let seed = 1; seed <= 3; seed++) {
      const texts = planMessages(200, seed, { sessions: 1, sizes: 'lengths', edges }).map(({ text }) => text)
      expect(texts).toHaveLength(200)
      expect(Math.max(...texts.map(chars))).toBe(50_000)
      expect(Math.max(...texts.map(lines))).toBe(400)
      expect(Math.min(...texts.map(chars))).toBe(1)
      expect(
        texts.slice(0, edges.length).map((text) => ({ chars: chars(text), lines: lines(text) })),
      ).toEqual(edges.map((edge) => ({ chars: edge.chars, lines: edge.lines })))
      // A text that is like none before it is known wherever it turns up.
      const marked = texts.filter((text) => chars(text) > 12)
      expect(new Set(marked).size).toBe(marked.length)
      expect(texts.join('')).toMatch(/\p{Emoji_Modifier}/u)
    }
  },
)

test('[MUS-324] where Gemini and pi begin to fold a paste is among the edges', () => {
  const single = (cli: 'gemini' | 'pi') =>
    edgesOf(cli).flatMap((size) => (size.lines === 1 ? size.chars : []))
  const several = (cli: 'gemini' | 'pi') => edgesOf(cli).flatMap((size) => (size.lines > 1 ? size.lines : []))
  expect(single('gemini')).toEqual([1, 50_000, 80, 599, 600, 601])
  expect(several('gemini')).toEqual([400, 3, 13, 14, 15])
  expect(single('pi')).toEqual([1, 50_000, 80, 1355, 1356])
  expect(several('pi')).toEqual([400, 3, 14, 15])
})
