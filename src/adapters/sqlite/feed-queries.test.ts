import { expect, test } from 'vitest'
import { EventStream, eventIdOf, sessionIdOf, spanIdOf } from '../../../test/support/events.ts'
import { TempIndex } from '../../../test/support/temp-index.ts'

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
