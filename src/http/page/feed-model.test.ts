import { expect, test } from 'vitest'
import { sampleEvent, sampleSession } from '../../../test/http/sample-events.ts'
import { shortId } from '../../contract/ids.ts'

type Row = { seq: number; type: string; text: string; tone: string; session: string; note?: string }
type Feed = {
  received: number
  waiting: number
  lastSeq: number
  isPaused: boolean
  push(event: unknown): void
  note(text: string): void
  filter(text: string): void
  clear(): void
  restart(): void
  takeFresh(): Row[]
  takeAll(): Row[]
}
const page = (await import(new URL('./feed-model.js', import.meta.url).href)) as {
  Feed: new () => Feed
  maxRows: number
  rowOf(event: unknown): Row
  shortId(id: string): string
}

const event = (seq: number, type = 'agent.idle', payload: unknown = { agentId: 'dev' }) => ({
  seq,
  ...sampleEvent(type as 'agent.idle', { payload: payload as never }),
})
const seqs = (rows: readonly Row[]) => rows.map(({ seq }) => seq)

function feedOf(count: number): Feed {
  const feed = new page.Feed()
  for (let seq = 1; seq <= count; seq++) feed.push(event(seq, seq % 2 ? 'agent.idle' : 'test.passed', {}))
  return feed
}

test('[MUS-198] each event is one row, once', () => {
  const feed = feedOf(3)
  feed.push(event(2))
  feed.push(event(3))
  expect(seqs(feed.takeFresh())).toEqual([1, 2, 3])
  expect(feed.takeFresh()).toEqual([])
  expect([feed.received, feed.lastSeq]).toEqual([3, 3])
})

test('[MUS-198] what is drawn and kept is bounded, newest last', () => {
  const feed = feedOf(20_000)
  const fresh = feed.takeFresh()
  expect([fresh.length, fresh.at(-1)?.seq]).toEqual([page.maxRows, 20_000])
  expect(page.maxRows).toBe(500)
  expect(feed.takeAll()).toHaveLength(500)
})

test('[MUS-198] the filter has words that must and must not be there', () => {
  const feed = feedOf(4)
  feed.filter('agent')
  expect(seqs(feed.takeAll())).toEqual([1, 3])
  feed.filter('-AGENT')
  expect(seqs(feed.takeAll())).toEqual([2, 4])
  feed.filter(`test ${shortId(sampleSession(1))}`)
  expect(seqs(feed.takeAll())).toEqual([2, 4])
  feed.push(event(5))
  expect([feed.takeFresh(), feed.waiting]).toEqual([[], 0])
  feed.filter('')
  expect(seqs(feed.takeAll())).toEqual([1, 2, 3, 4, 5])
})

test('[MUS-198] a paused feed draws nothing and counts what waits', () => {
  const feed = feedOf(1)
  feed.takeFresh()
  feed.isPaused = true
  feed.push(event(2))
  expect([feed.takeFresh(), feed.waiting]).toEqual([[], 1])
  feed.isPaused = false
  expect(seqs(feed.takeFresh())).toEqual([2])
})

test('[MUS-198] another journal starts over, a note is always shown', () => {
  const feed = feedOf(9)
  feed.filter('nothing-like-it')
  feed.note('missed')
  expect(feed.takeAll()).toEqual([{ note: 'missed' }])
  feed.restart()
  feed.filter('')
  feed.push(event(1))
  expect(seqs(feed.takeAll())).toEqual([1])
})

test('[MUS-198] a row shows who, what and a short text of any payload', () => {
  const long = page.rowOf(
    event(1, 'tool.call.failed', { tool: 'Bash', error: '😀'.repeat(1000), n: { a: [1] }, none: null }),
  )
  expect(long).toMatchObject({ type: 'tool.call.failed', tone: 'bad', session: shortId(sampleSession(1)) })
  expect(long.text.length).toBeLessThan(700)
  expect(long.text.isWellFormed()).toBe(true)
  expect(page.rowOf(event(1, 'agent.idle', null)).text).toBe('')
  expect(page.rowOf(event(1, 'agent.idle', { detail: { $blob: 'x', preview: 'begins so' } })).text).toBe(
    'detail=begins so',
  )
})

test('[MUS-198] a session has the same short id as everywhere', () => {
  for (let n = 0; n < 100; n++) expect(page.shortId(sampleSession(n))).toBe(shortId(sampleSession(n)))
})
