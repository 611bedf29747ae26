import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { shellPieces, shellText, shellTokens } from './shell-lexer.ts'

const read = (line: string) =>
  Array.from(shellTokens(line), (token) =>
    token.kind === 'word' ? shellText(token.pieces) : { [token.kind]: token.source },
  ).filter((token) => typeof token === 'string' || !('blank' in token))

test.each<[string, ReturnType<typeof read>]>([
  [`a 'b c' "d e" f\\ g`, ['a', 'b c', 'd e', 'f g']],
  [`a'b'"c"\\d`, ['abcd']],
  ['"\\$x \\a \\" \\\\"', ['$x \\a " \\']],
  ['a\\\nb "c\\\nd" \\\n e', ['ab', 'cd', 'e']],
  ['a#b #c\nd', ['a#b', { comment: '#c' }, { end: '\n' }, 'd']],
  [
    'a&&b||c|d|&e;f',
    ['a', { end: '&&' }, 'b', { end: '||' }, 'c', { end: '|' }, 'd', { end: '|&' }, 'e', { end: ';' }, 'f'],
  ],
  ['a & b', ['a', { background: '&' }, 'b']],
  [
    'a>b 2>&1 &>>c <<<d',
    [
      'a',
      { redirection: '>' },
      'b',
      { redirection: '2>&' },
      '1',
      { redirection: '&>>' },
      'c',
      { redirection: '<<<' },
      'd',
    ],
  ],
  ['a2>b', ['a2', { redirection: '>' }, 'b']],
  ['$(a)', ['$', { group: '(' }, 'a', { group: ')' }]],
])('%j is cut as bash cuts it', (line, expected) => {
  expect(read(line)).toEqual(expected)
})

test.each([`'a`, `"a`, '"a\\"', '"a\\', 'a\\'])('%j is left open', (line) => {
  expect(shellPieces(line, 0, /\s/).at(-1)).toMatchObject({ isOpen: true })
})

test('nothing of a line is lost or read twice', () => {
  const piece = fc.constantFrom(
    'a',
    ' ',
    '\n',
    '"',
    "'",
    '\\',
    '$',
    '(',
    ')',
    '#',
    ';',
    '&',
    '|',
    '<',
    '>',
    '2',
    '\r',
  )
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const line = pieces.join('')
      const sources = Array.from(shellTokens(line), (token) =>
        token.kind === 'word' ? token.pieces.map(({ source }) => source).join('') : token.source,
      )
      expect(sources.join('')).toBe(line)
    }),
  )
})
