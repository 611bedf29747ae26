import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { EventStream, eventStreams, sessionIdOf, traceIdOf } from '../../../test/support/events.ts'
import { runs } from '../../../test/support/size.ts'
import { TempIndex } from '../../../test/support/temp-index.ts'
import type { AgentEvent } from '../../contract/event.ts'
import {
  ApprovalLatency,
  ApprovalRow,
  FeedRow,
  IndexCounts,
  LedgerRow,
  MessageRow,
  ParkedRow,
  RunRow,
  SessionRow,
  SpanRow,
  StatsRow,
  TaskRow,
  type UsageRow as Usage,
  UsageRow,
} from '../../contract/index-rows.ts'
import { openIndexQueries } from './index-queries.ts'

const every = { limit: 5000 } as const

test('[MUS-55] whatever the journal holds, every answer fits its schema', () => {
  fc.assert(
    fc.property(eventStreams(), (events) => {
      using place = new TempIndex()
      using index = place.queries(events)
      z.array(SessionRow).parse(index.sessions(every))
      z.array(SessionRow).parse(index.subtree(sessionIdOf(1)))
      z.array(RunRow).parse(index.runs(every))
      z.array(TaskRow).parse(index.tasks(every))
      z.array(MessageRow).parse(index.messages(every))
      z.array(ApprovalRow).parse(index.approvals(every))
      ApprovalLatency.parse(index.approvalLatency({}))
      z.array(SpanRow).parse(index.spans(every))
      z.array(LedgerRow).parse(index.ledger(every))
      z.array(FeedRow).parse(index.events(every))
      for (const by of ['session', 'run', 'model'] as const) z.array(UsageRow).parse(index.usage({ by }))
      z.array(StatsRow).parse(index.stats({ by: ['day', 'sessionId', 'actor', 'workflowId', 'phase'] }))
      z.array(ParkedRow).parse(index.parked())
      const counts = IndexCounts.parse(index.counts())
      expect(counts.events).toBe(events.length)
      expect(counts.lastSeq).toBe(events.length)
    }),
    { ...runs(25), interruptAfterTimeLimit: 20_000 },
  )
})

test('[MUS-181] every total is the sum of its leaves, by session, run, slice and altogether', () => {
  fc.assert(
    fc.property(eventStreams(), (events) => {
      using place = new TempIndex()
      using index = place.queries(events.map(ofUsualSize))
      const calls = index.ledger(every)
      const leaves = sum(calls)
      expect(sum(index.usage({ by: 'session' }))).toEqual(leaves)
      // A run counts what its own session used, whatever run another session says that it works in.
      const owners = new Map(index.runs(every).map(({ runId, sessionId }) => [runId, sessionId]))
      const ofRuns = calls.filter(({ runId, sessionId }) => (owners.get(runId) ?? sessionId) === sessionId)
      expect(sum(index.usage({ by: 'run' }))).toEqual(sum(ofRuns))
      expect(sum(index.usage({ by: 'model' }))).toEqual(leaves)
      expect(sum(index.stats({ by: ['day', 'sessionId', 'actor', 'workflowId', 'phase'] }))).toEqual(leaves)
      expect(sum(index.usage({}))).toEqual(leaves)
      for (const { sessionId } of index.sessions(every)) {
        expect(sum(index.usage({ sessionId }))).toEqual(sum(index.ledger({ ...every, sessionId })))
      }
    }),
    { ...runs(25), interruptAfterTimeLimit: 20_000 },
  )
})

test('[MUS-11, OBS-34] there is one span for each (trace, span) that was opened or closed', () => {
  fc.assert(
    fc.property(eventStreams(), (events) => {
      using place = new TempIndex()
      using index = place.queries(events)
      const rows = index.spans(every)
      const keys = rows.map((row) => `${row.traceId} ${row.spanId}`)
      expect(new Set(keys).size).toBe(keys.length)
      for (const row of rows) {
        expect(row.status === 'open').toBe(row.endedMs === null)
        expect(row.orphan).toBe(row.startedMs === null)
        expect(row.durationMs === null || row.durationMs >= 0).toBe(true)
      }
    }),
    { ...runs(20), interruptAfterTimeLimit: 20_000 },
  )
})

test('[MUS-70] an index that is not there yet is refused with what to do', () => {
  using place = new TempIndex()
  expect(() => openIndexQueries(place.path)).toThrow(expect.objectContaining({ code: 'unavailable' }))
})

test('[MUS-72] a reader sees whole batches while the writer goes on', () => {
  using place = new TempIndex()
  const stream = new EventStream()
  stream.add('session.started', { name: 'one' })
  stream.add('session.started', { name: 'two' }, { sessionId: sessionIdOf(2), traceId: traceIdOf(2) })
  const writer = place.writer()
  writer.apply(stream.events.slice(0, 1))
  const index = openIndexQueries(place.path)
  expect(index.sessions({}).map((row) => row.name)).toEqual(['one'])
  writer.apply(stream.events.slice(1))
  expect(index.sessions({}).map((row) => row.name)).toEqual(['two', 'one'])
  expect(index.position()).toMatchObject({ seq: 2 })
  index.close()
  writer.close()
})

// Sums stop at the largest exact number, so figures near it do not add up.
function ofUsualSize(event: AgentEvent): AgentEvent {
  if (event.type !== 'llm.request.completed' && event.type !== 'llm.usage.corrected') return event
  const usage = Object.entries(event.payload.usage).map(([name, count]) => [name, Number(count) % 1e9])
  const { costUsd, ...rest } = event.payload
  const price = costUsd === undefined ? {} : { costUsd: costUsd % 1e3 }
  return { ...event, payload: { ...rest, ...price, usage: Object.fromEntries(usage) } } as AgentEvent
}

const figures = [
  'calls',
  'unpriced',
  'input',
  'output',
  'cacheRead',
  'cacheWrite',
  'reasoning',
  'tokens',
] as const

function sum(rows: readonly Omit<Usage, 'of'>[]): Record<string, number> {
  const total: Record<string, number> = { costNano: 0 }
  for (const name of figures) total[name] = 0
  for (const row of rows) {
    for (const name of figures) total[name] = (total[name] ?? 0) + (row[name] ?? 0)
    total['costNano'] = (total['costNano'] ?? 0) + Math.round((row.costUsd ?? 0) * 1e9)
  }
  return total
}
