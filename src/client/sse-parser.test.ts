import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { SseParser } from './sse-parser.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const read = (text: string) => new SseParser().push(bytes(text))
const shown = (text: string) =>
  read(text)
    .filter(({ data }) => data !== undefined)
    .map(({ id, event, data }) => [id, event, data])

test('[MUS-98] a frame has an id, a name and data', () => {
  expect(read('id: 3.0\nevent: agent.idle\ndata: {"a":1}\n\n')).toEqual([
    { id: '3.0', event: 'agent.idle', data: '{"a":1}', retryMs: undefined },
  ])
})

test('[MUS-98] lines end in any of three ways, and only the first space of a value goes', () => {
  for (const end of ['\n', '\r\n', '\r'])
    expect(shown(`data:  a${end}data:b${end}${end}data: c${end}${end} `)).toEqual([
      ['', 'message', ' a\nb'],
      ['', 'message', 'c'],
    ])
})

test('[MUS-98] comments, unknown fields and fields without a colon do no harm', () => {
  expect(shown(': beat\n\nnews: x\ndata\ndata: x\n\nretry: soon\n\n')).toEqual([['', 'message', '\nx']])
})

test('[MUS-102] a block with only an id moves the cursor and shows nothing', () => {
  expect(read('id: 7.1\n\n')).toEqual([{ id: '7.1', event: 'message', data: undefined, retryMs: undefined }])
  expect(shown('id: 7.1\n\ndata: x\n\n')).toEqual([['7.1', 'message', 'x']])
})

test('[MUS-103] a frame without an id keeps the one before it', () => {
  expect(shown('id: 1.0\ndata: a\n\nevent: Token\ndata: b\n\n')).toEqual([
    ['1.0', 'message', 'a'],
    ['1.0', 'Token', 'b'],
  ])
})

test('[MUS-100] an unfinished frame is never given out, nor its id', () => {
  const parser = new SseParser({ lastId: '1.0' })
  expect(parser.push(bytes('id: 2.0\ndata: a\n'))).toEqual([])
  expect(parser.push(bytes('\n'))).toMatchObject([{ id: '2.0', data: 'a' }])
})

test('[MUS-98] the wait before coming back is the server’s to say', () => {
  expect(read('retry: 1000\n\n')[0]).toMatchObject({ retryMs: 1000 })
  expect(read('retry: 1s\n\n')).toEqual([])
})

test('[MUS-98] a heartbeat is heard, so that a quiet connection counts as alive', () => {
  expect(read('id: 1.0\n\n: beat\n\n').at(-1)).toEqual({
    id: '1.0',
    event: 'message',
    data: undefined,
    retryMs: undefined,
  })
})

test('[MUS-100] it does not matter where the bytes are cut', () => {
  const piece = fc.constantFrom('id: 1.0', 'data: ü😀', 'event: x', ': c', '', '', 'data', 'retry: 5')
  const end = fc.constantFrom('\n', '\r\n', '\r')
  fc.assert(
    fc.property(fc.array(fc.tuple(piece, end)), fc.array(fc.nat(200)), (lines, cuts) => {
      // A final line feed, since a carriage return at the very end waits for its other half.
      const all = bytes(`${lines.map(([text, close]) => text + close).join('')}: end\n`)
      const whole = new SseParser().push(all)
      const parser = new SseParser()
      const at = [0, ...cuts.map((cut) => cut % (all.length + 1)).sort((a, b) => a - b), all.length]
      const pieces = at.slice(1).flatMap((to, i) => parser.push(all.slice(at[i], to)))
      expect(pieces).toEqual(whole)
    }),
  )
})

test('[MUS-105] a large frame in small pieces is read without joining them again and again', () => {
  const parser = new SseParser()
  const piece = bytes('x'.repeat(1024))
  parser.push(bytes('data: '))
  // Joining all that is held with each piece takes minutes here: the test would run out of time.
  for (let i = 0; i < 16 * 1024; i++) parser.push(piece)
  expect(parser.push(bytes('\n\n'))[0]?.data).toHaveLength(16 * 1024 * 1024)
})

test('[MUS-105] a frame without end is refused, not kept', () => {
  const endless = new SseParser({ maxChars: 1000 })
  expect(() => {
    for (let i = 0; i < 100; i++) endless.push(bytes('data: xxxxxxxxxxxxxxxxxxxx\n'))
  }).toThrow(RangeError)
  expect(() => new SseParser({ maxChars: 10 }).push(bytes('data: xxxxxxxxxxxxxxxxxxxx'))).toThrow(RangeError)
})
