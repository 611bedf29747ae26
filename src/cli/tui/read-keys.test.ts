import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readKeys, type Typed } from './read-keys.ts'

const keys = (text: string, isAll = true) =>
  readKeys(text, isAll).typed.map((one) => (one.kind === 'key' ? one.key : one))

test('keys of every kind of terminal have one name each', () => {
  expect(keys('jあ👍 ')).toEqual(['j', 'あ', '👍', ' '])
  expect(keys('\u001b[A\u001bOA\u001b[1;5B\u001b[5~\u001b[6;2~')).toEqual([
    '<up>',
    '<up>',
    '<down>',
    '<pageup>',
    '<pagedown>',
  ])
  expect(keys('\u001b[H\u001b[1~\u001bOF\u001b[4~\u001b[3~')).toEqual([
    '<home>',
    '<home>',
    '<end>',
    '<end>',
    '<del>',
  ])
  expect(keys('\r\n\t\u007f\b\u0003\u001a\u000c')).toEqual([
    '<enter>',
    '<enter>',
    '<tab>',
    '<bs>',
    '<bs>',
    '<c-c>',
    '<c-z>',
    '<c-l>',
  ])
  expect(keys('\u001b\u007f\u001b\r\u001b?')).toEqual(['<a-bs>', '<a-enter>', '<esc>', '?'])
})

test('what is not known is dropped whole and leaves nothing behind', () => {
  expect(keys('\u001b[?1;2c\u001b[24~\u001b[<0;1;1Mq')).toEqual(['q'])
})

test('a lone escape waits for more, and is the key when nothing comes', () => {
  expect(readKeys('\u001b')).toEqual({ typed: [], rest: '\u001b' })
  expect(keys('\u001b')).toEqual(['<esc>'])
  expect(readKeys('\u001b[')).toEqual({ typed: [], rest: '\u001b[' })
  expect(keys('\u001b\u001b')).toEqual(['<esc>', '<esc>'])
})

test('a paste is one text, also when it holds escapes and comes in pieces', () => {
  expect(readKeys('a\u001b[200~x\r\u001b[Ay')).toEqual({
    typed: [{ kind: 'key', key: 'a' }],
    rest: '\u001b[200~x\r\u001b[Ay',
  })
  expect(keys('\u001b[200~x\rq\u001b[201~j')).toEqual([{ kind: 'paste', text: 'x\rq' }, 'j'])
})

test('it does not matter where the line is cut into pieces', () => {
  const pieces = [
    'j',
    '\u001b[A',
    '\u001bOB',
    '\u001b[5~',
    '日',
    '👩',
    '\r',
    '\u001b[200~two\nlines\u001b[201~',
    '\u0003',
  ]
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces)), fc.array(fc.nat(200)), (parts, cuts) => {
      const text = parts.join('')
      const whole = readKeys(text, true).typed
      const typed: Typed[] = []
      let rest = ''
      const at = [...new Set(cuts.filter((cut) => cut < text.length && !isInsidePair(text, cut)))].sort(
        (a, b) => a - b,
      )
      for (const [i, from] of [0, ...at].entries()) {
        const read = readKeys(rest + text.slice(from, at[i] ?? text.length))
        typed.push(...read.typed)
        rest = read.rest
      }
      typed.push(...readKeys(rest, true).typed)
      expect(typed).toEqual(whole)
    }),
  )
})

// The decoder before it never gives half of a character.
const isInsidePair = (text: string, at: number) => /[\udc00-\udfff]/.test(text[at] ?? '') && at > 0
