import { describe, expect, test } from 'vitest'
import { parseCursor, startOf } from './cursor.ts'

const journal = (oldest: number, watermark: number) => ({ oldest: () => oldest, watermark: () => watermark })
const header = (id: string) => ({ id, by: 'header' }) as const
const query = (id: string) => ({ id, by: 'query' }) as const

test.each([
  ['0', { seq: 0 }],
  ['12', { seq: 12 }],
  ['12.0', { seq: 12, part: 0 }],
  ['12.31', { seq: 12, part: 31 }],
])('[MUS-99] %s is a frame id', (id, cursor) => {
  expect(parseCursor(id)).toEqual(cursor)
})

test.each([
  '',
  ' 1',
  '-1',
  '1.',
  '.1',
  '1.0.0',
  '01',
  '1.01',
  '1e3',
  '1,0',
  'x',
  '99999999999999999',
  '1.1000',
  '12\n',
])('[MUS-107] %j is refused, not taken as the start', (id) => {
  expect(parseCursor(id)).toBeUndefined()
  expect(() => startOf(query(id), journal(1, 5))).toThrow(/frame id/)
})

test('[MUS-100] without an id a stream begins now', () => {
  expect(startOf(undefined, journal(1, 5))).toEqual({ kind: 'live' })
})

test('[MUS-100] an id of the journal is gone on from', () => {
  for (const id of ['0', '0.0', '1.0', '5.0', '5.1', '5'])
    expect(startOf(header(id), journal(1, 5)), id).toEqual({ kind: 'resume', cursor: parseCursor(id) })
})

describe('[MUS-101] an id that cannot be gone on from', () => {
  test('[MUS-101] that is older than what is kept gets a resync', () => {
    const pruned = journal(10, 20)
    for (const id of ['0', '1', '8', '8.1', '9.0'])
      expect(startOf(header(id), pruned), id).toEqual({ kind: 'resync', reason: 'too_old', asked: id })
    for (const id of ['9', '9.1', '10.0', '10']) expect(startOf(header(id), pruned).kind, id).toBe('resume')
  })

  test('[MUS-101] that is not of this journal gets a resync in a header, where a refusal would silence a browser for good', () => {
    expect(startOf(header('6.0'), journal(1, 5))).toEqual({
      kind: 'resync',
      reason: 'unknown_id',
      asked: '6.0',
    })
  })

  test('[MUS-101] that somebody wrote into a query is refused when it is ahead', () => {
    expect(() => startOf(query('6'), journal(1, 5))).toThrow(/ends at 5/)
  })
})
