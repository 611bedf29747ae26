import { expect, test } from 'vitest'
import { parseDocument } from 'yaml'
import { contentsOf, offsetOf, positionAt } from './yaml-position.ts'

const text = 'a:\n  b: [1, {c: 2}]\n  d:\n1: x\n'
const root = parseDocument(text).contents
const at = (path: PropertyKey[], part: 'key' | 'value') => positionAt(text, offsetOf(root, path, part))

test('[MUS-139] keys and values are found, in lists and under number-like keys too', () => {
  expect(at(['a', 'b'], 'key')).toEqual({ line: 2, column: 3 })
  expect(at(['a', 'b'], 'value')).toEqual({ line: 2, column: 6 })
  expect(at(['a', 'b', 1, 'c'], 'value')).toEqual({ line: 2, column: 14 })
  expect(at(['1'], 'value')).toEqual({ line: 4, column: 4 })
})

test('[MUS-139] a path beyond the text stops at its nearest parent', () => {
  expect(at(['a', 'b', 1, 'z'], 'key')).toEqual({ line: 2, column: 10 })
  expect(at(['a', 'zz', 'y'], 'key')).toEqual({ line: 1, column: 1 })
  expect(at([], 'key')).toEqual({ line: 1, column: 1 })
})

test('[MUS-139] a position is found past carriage returns and at the end', () => {
  expect(positionAt('a\r\nbc', 4)).toEqual({ line: 2, column: 2 })
  expect(positionAt('a\n', 99)).toEqual({ line: 2, column: 1 })
})

test.each([
  ['a: 1\na: 2\n', 5, /written twice/],
  ['a:\n\tb: 1\n', 3, /use spaces/],
  ['a: 1\n---\nb: 2\n', 5, /only one YAML document/],
  ['x: 1\na: *gone\n', 8, /gone/],
  ['x: &x 1\ny: *x\na: [*gone]\n', 18, /gone/],
  ['a: !odd 1\n', 3, /!odd/],
  ['a: {b: 1\n', 9, /}/],
])('[MUS-139] %j breaks at %i', (source, offset, message) => {
  const { data, problems } = contentsOf(parseDocument(source, { prettyErrors: false }))
  expect(data).toBeUndefined()
  expect(problems[0]).toEqual({ offset, message: expect.stringMatching(message) })
})

test('[MUS-139] an alias that multiplies the text beyond reason is refused', () => {
  const nested = ['a: &a [1,1,1,1,1,1,1,1,1,1]']
  for (const [from, to] of ['ab', 'bc', 'cd', 'de'].map((pair) => pair.split(''))) {
    nested.push(`${to}: &${to} [${Array(10).fill(`*${from}`).join(',')}]`)
  }
  const { problems } = contentsOf(parseDocument(nested.join('\n'), { prettyErrors: false }))
  expect(problems).toEqual([{ offset: expect.any(Number), message: expect.stringMatching(/alias/) }])
})

test('[MUS-144] an empty text is an empty map', () => {
  expect(contentsOf(parseDocument('# nothing\n'))).toMatchObject({ data: {}, problems: [] })
})
