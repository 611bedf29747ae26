import { expect, test } from 'vitest'
import { EventStream, runIdOf, sessionIdOf, spanIdOf } from '../../../test/support/events.ts'
import { TempIndex } from '../../../test/support/temp-index.ts'

const answer = (responseId: string, input: number, more = {}) =>
  ({ responseId, model: 'opus', usage: { input, output: 1 }, ...more }) as const

test('[MUS-180] a call reported again is one call, and the last report wins', () => {
  const stream = new EventStream()
  stream.add('llm.request.completed', answer('r1', 10, { costUsd: 0.1, source: 'hook' }))
  stream.add('llm.request.completed', answer('r1', 12, { costUsd: 0.2, source: 'transcript' }))
  stream.add('llm.usage.corrected', {
    responseId: 'r1',
    usage: { input: 15, cacheRead: 100 },
    source: 'otlp',
  })
  stream.add('llm.request.completed', answer('r2', 1))
  using place = new TempIndex()
  using index = place.queries(stream.events)
  expect(index.ledger({ sessionId: sessionIdOf(1) })).toMatchObject([
    {
      responseId: 'r1',
      model: 'opus',
      source: 'otlp',
      input: 15,
      output: 0,
      cacheRead: 100,
      tokens: 115,
      costUsd: 0.2,
      reports: 3,
      day: '2026-03-01',
      seq: 1,
      lastSeq: 3,
    },
    { responseId: 'r2', tokens: 2, costUsd: null, unpriced: 1, reports: 1 },
  ])
  expect(index.usage({})).toMatchObject([{ of: null, calls: 2, unpriced: 1, tokens: 117, costUsd: 0.2 }])
  expect(index.ledger({ after: 1 })).toMatchObject([{ responseId: 'r2' }])
})

test('[MUS-181] a call whose correction came first counts where it was made', () => {
  const stream = new EventStream()
  const elsewhere = { sessionId: sessionIdOf(9), runId: runIdOf(9), actor: 'otlp', atMs: 86_400_000 }
  stream.add('llm.usage.corrected', { responseId: 'r', usage: { input: 5 } }, elsewhere)
  stream.add('llm.request.completed', answer('r', 7), { spanId: spanIdOf(1), atMs: 1000 })
  using place = new TempIndex()
  using index = place.queries(stream.events)
  expect(index.usage({ by: 'session' }).filter((row) => row.calls > 0)).toMatchObject([
    { of: sessionIdOf(1), calls: 1, tokens: 8 },
  ])
  expect(index.usage({ sessionId: sessionIdOf(9) })).toMatchObject([{ calls: 0 }])
  expect(index.stats({ by: ['day'] })).toMatchObject([
    { day: '2026-03-01', tokens: 8, calls: 1 },
    { day: '2026-03-02', tokens: 0, calls: 0 },
  ])
})

test('[MUS-181] a correction from elsewhere changes the figures of a call, not its place', () => {
  const stream = new EventStream()
  stream.add('llm.request.completed', answer('r', 7), { phase: 'work' })
  const elsewhere = { sessionId: sessionIdOf(9), runId: runIdOf(9), actor: 'otlp', spanId: spanIdOf(9) }
  stream.add('llm.usage.corrected', { responseId: 'r', usage: { input: 50 } }, elsewhere)
  using place = new TempIndex()
  using index = place.queries(stream.events)
  expect(index.ledger({})).toMatchObject([{ sessionId: sessionIdOf(1), spanId: spanIdOf(0), actor: 'agent' }])
  expect(index.usage({ sessionId: sessionIdOf(1) })).toMatchObject([{ calls: 1, tokens: 50 }])
  expect(index.stats({ by: ['phase'] }).find((row) => row.phase === 'work')).toMatchObject({ tokens: 50 })
})

test('[MUS-361] a hook, a record, a report or an import takes no call of another session to itself', () => {
  for (const via of ['hook', 'transcript', 'report', 'import'] as const) {
    const stream = new EventStream()
    const of = (n: number, more: object = {}) => ({ sessionId: sessionIdOf(n), runId: runIdOf(n), ...more })
    const told = (n: number) => of(n, { by: { kind: 'session', id: sessionIdOf(n), via } })
    stream.add('llm.request.completed', answer('r1', 10, { costUsd: 1 }), { ...told(1), spanId: spanIdOf(1) })
    stream.add('llm.request.completed', answer('r1', 0), { ...told(2), spanId: spanIdOf(2) })
    stream.add('llm.usage.corrected', { responseId: 'r1', usage: { input: 0 }, costUsd: 0 }, told(2))
    // What its own session tells later still counts.
    stream.add('llm.usage.corrected', { responseId: 'r1', usage: { input: 20 } }, told(1))
    using place = new TempIndex()
    using index = place.queries(stream.events)
    const used = index.usage({ by: 'session' }).filter(({ calls }) => calls > 0)
    expect(used, via).toMatchObject([{ of: sessionIdOf(1), calls: 1, tokens: 20, costUsd: 1 }])
    expect(index.ledger({}), via).toMatchObject([{ sessionId: sessionIdOf(1), reports: 2 }])
  }
  // Nor does what others told first keep a call from whoever made it, as the daemon knows.
  const stream = new EventStream()
  stream.add('llm.request.completed', answer('r1', 0), {
    by: { kind: 'session', id: sessionIdOf(1), via: 'transcript' },
  })
  const mine = { sessionId: sessionIdOf(2), runId: runIdOf(2), by: { kind: 'daemon' as const } }
  stream.add('llm.request.completed', answer('r1', 10), mine)
  using place = new TempIndex()
  using index = place.queries(stream.events)
  expect(index.ledger({})).toMatchObject([{ sessionId: sessionIdOf(2), tokens: 11 }])
})

test('[MUS-181] usage is summed by session, subtree, run and model', () => {
  const stream = new EventStream()
  const at = (n: number) => ({ sessionId: sessionIdOf(n), runId: runIdOf(n) })
  stream.add('session.started', {}, at(1))
  stream.add('session.started', { parentSessionId: sessionIdOf(1) }, at(2))
  stream.add('session.started', { parentSessionId: sessionIdOf(2) }, at(3))
  stream.add('session.started', {}, at(4))
  for (const n of [1, 2, 3, 4])
    stream.add('llm.request.completed', answer(`r${n}`, 10 ** n, { costUsd: n }), at(n))
  stream.add('llm.request.completed', { ...answer('r5', 9), model: 'haiku' }, at(1))
  using place = new TempIndex()
  using index = place.queries(stream.events)
  expect(index.usage({ sessionId: sessionIdOf(1) })).toMatchObject([
    { of: null, calls: 2, tokens: 21, costUsd: 1 },
  ])
  expect(index.usage({ sessionId: sessionIdOf(1), isSubtree: true })).toMatchObject([
    { calls: 4, unpriced: 1, tokens: 1123, costUsd: 6 },
  ])
  expect(index.usage({ sessionId: sessionIdOf(1), isSubtree: true, by: 'run' }).map((row) => row.of)).toEqual(
    [runIdOf(3), runIdOf(2), runIdOf(1)],
  )
  expect(index.usage({ sessionId: sessionIdOf(1), by: 'model' })).toMatchObject([
    { of: 'opus', tokens: 11 },
    { of: 'haiku', tokens: 10 },
  ])
  expect(index.runs({ runId: runIdOf(1) })).toMatchObject([{ calls: 2, tokens: 21 }])
})

test('[MUS-179] with no call there is no figure, not a zero', () => {
  using place = new TempIndex()
  using index = place.queries([])
  expect(index.usage({})).toMatchObject([{ calls: 0, tokens: null, costUsd: null }])
  expect(index.usage({ by: 'model' })).toEqual([])
})

test('[MUS-180] figures too large to count exactly are held at the largest, and can be read again', () => {
  const stream = new EventStream()
  const huge = { input: Number.MAX_SAFE_INTEGER, total: Number.MAX_SAFE_INTEGER }
  stream.add('llm.request.completed', { responseId: 'a', model: 'm', usage: huge, costUsd: 1e300 })
  stream.add('llm.request.completed', { responseId: 'b', model: 'm', usage: huge, costUsd: 1e300 })
  using place = new TempIndex()
  const writer = place.writer()
  for (const event of stream.events) writer.apply([event])
  writer.close()
  // A new writer reads the rows it goes on from.
  using index = place.queries([
    ...stream.events,
    new EventStream({}, 3).add('llm.request.completed', answer('c', 1)),
  ])
  expect(index.usage({})).toMatchObject([{ calls: 3, tokens: Number.MAX_SAFE_INTEGER }])
})
