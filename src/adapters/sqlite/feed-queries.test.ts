import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { EventStream, eventIdOf, sessionIdOf, spanIdOf } from '../../../test/support/events.ts'
import { TempIndex } from '../../../test/support/temp-index.ts'
import { events } from './feed-queries.ts'
import { RowReader } from './row-reader.ts'

function mixed(): EventStream {
  const stream = new EventStream()
  for (let i = 0; i < 10; i++) {
    const place = { sessionId: sessionIdOf(1 + (i % 2)), spanId: spanIdOf(i) }
    stream.add(
      'tool.call.started',
      { callId: `c${i}`, tool: 'Bash', params: { command: `make ${i}` } },
      place,
    )
    stream.add('tool.call.completed', { callId: `c${i}`, tool: 'Bash' }, place)
    stream.add('progress.checkpoint', { message: `step ${i}` }, place)
  }
  return stream
}

test('[MUS-36] the feed pages forward after a seq and backward from the end or a seq', () => {
  using place = new TempIndex()
  using index = place.queries(mixed().events)
  const seqs = (filter: object) => index.events(filter).map((row) => row.seq)
  expect(seqs({ limit: 3 })).toEqual([30, 29, 28])
  expect(seqs({ limit: 3, before: 28 })).toEqual([27, 26, 25])
  expect(seqs({ limit: 3, after: 0 })).toEqual([1, 2, 3])
  expect(seqs({ after: 3, before: 6 })).toEqual([4, 5])
  expect(seqs({ after: 30 })).toEqual([])
})

test('[MUS-36] the feed is filtered by session and by types', () => {
  using place = new TempIndex()
  using index = place.queries(mixed().events)
  const seqs = (filter: object) => index.events(filter).map((row) => row.seq)
  const types = ['tool.call.completed', 'progress.checkpoint']
  expect(seqs({ types, limit: 4 })).toEqual([30, 29, 27, 26])
  expect(seqs({ types, after: 0, limit: 4 })).toEqual([2, 3, 5, 6])
  expect(seqs({ types: ['progress.checkpoint', 'progress.checkpoint'], limit: 2 })).toEqual([30, 27])
  expect(seqs({ sessionId: sessionIdOf(1), limit: 3 })).toEqual([27, 26, 25])
  expect(seqs({ sessionId: sessionIdOf(1), types, after: 3, limit: 3 })).toEqual([8, 9, 14])
  expect(seqs({ types: ['nothing.like.it'] })).toEqual([])
  expect(seqs({ types: [] })).toEqual([])
  expect(seqs({ types: Array.from({ length: 900 }, (_, i) => `t${i}`) })).toEqual([])
})

test('[MUS-70] a feed row has what a list shows and no payload', () => {
  using place = new TempIndex()
  const stream = new EventStream()
  const where = { taskId: 't', workflowId: 'w', phase: 'p', parentSpanId: spanIdOf(4), actor: 'dev' }
  stream.add('tool.call.started', { callId: 'c', tool: 'Bash', params: { command: 'make\n  all' } }, where)
  using index = place.queries(stream.events)
  expect(index.events({})).toMatchObject([
    { seq: 1, id: eventIdOf(1), type: 'tool.call.started', title: 'Bash make all', ...where },
  ])
})

test('[MUS-76] no page of the feed sorts or walks more than it shows', () => {
  using place = new TempIndex()
  place.queries(mixed().events).close()
  const db = new DatabaseSync(place.path)
  const plans: string[] = []
  const prepare = db.prepare.bind(db)
  db.prepare = (sql: string) => {
    if (sql.startsWith('SELECT')) plans.push(...planOf(prepare(`EXPLAIN QUERY PLAN ${sql}`), sql))
    return prepare(sql)
  }
  const reader = new RowReader(db)
  plans.length = 0
  events(reader, {})
  events(reader, { after: 4 })
  events(reader, { sessionId: sessionIdOf(1), types: ['tool.call.started'] })
  events(reader, { types: ['tool.call.started', 'progress.checkpoint'], before: 20 })
  db.close()
  expect(plans.filter((plan) => plan.includes('TEMP B-TREE'))).toEqual([])
  expect(plans.some((plan) => plan.includes('events_sessionId'))).toBe(true)
  expect(plans.some((plan) => plan.includes('events_type'))).toBe(true)
})

function planOf(explain: { all(...values: number[]): unknown[] }, sql: string): string[] {
  const values = Array.from(sql.matchAll(/\?/g), () => 1)
  return explain.all(...values).map((row) => String((row as { detail: unknown }).detail))
}
