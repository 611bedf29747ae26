import fc from 'fast-check'
import { expect, test } from 'vitest'
import { EventStream, eventStreams, spanIdOf } from '../../../test/support/events.ts'
import { runs } from '../../../test/support/size.ts'
import { TempIndex } from '../../../test/support/temp-index.ts'
import type { AgentEvent } from '../../contract/event.ts'
import type { FeedRow, SpanRow } from '../../contract/index-rows.ts'
import { markTypes } from './trace-marks.ts'
import { TraceRows } from './trace-rows.ts'
import { traceTree, walk } from './trace-tree.ts'

type Indexed = { readonly spans: SpanRow[]; readonly marks: FeedRow[] }

function indexed(events: readonly AgentEvent[]): Indexed {
  using place = new TempIndex()
  using index = place.queries(events)
  return {
    spans: index.spans({ after: 0, limit: 5000 }),
    marks: index.events({ after: 0, limit: 5000, types: markTypes }),
  }
}

const withoutFigures = (spans: readonly SpanRow[]) =>
  spans.map(({ tokens: _tokens, costUsd: _cost, ...row }) => wellFormed(row))

/** The index keeps no half characters and no zeros. */
const wellFormed = <R extends object>(row: R) =>
  Object.entries(row).map(([key, value]) => [
    key,
    typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '\ufffd') : value,
  ])

/** A stream, where the pages of the index end, and an order in which the rest arrives, some of it twice. */
const arrivals = eventStreams(40).chain((events) =>
  fc.record({
    events: fc.constant(events),
    cut: fc.nat({ max: events.length }),
    overlap: fc.nat({ max: 5 }),
    order: fc.shuffledSubarray([...events, ...events], { minLength: events.length * 2 }),
  }),
)

test('[MUS-386][OBS-34] pages up to any event and the rest in any order, more than once, give the rows of the index', () => {
  fc.assert(
    fc.property(arrivals, ({ events, cut, overlap, order }) => {
      const whole = indexed(events)
      const rows = new TraceRows()
      rows.page({ ...indexed(events.slice(0, cut)), seq: cut })
      for (const event of order) if (event.seq > cut - overlap) rows.event(event)
      expect(withoutFigures(rows.spans())).toEqual(withoutFigures(whole.spans))
      expect(rows.marks().map(wellFormed)).toEqual(whole.marks.map(wellFormed))
    }),
    runs(60),
  )
})

test('[MUS-386] a page that comes after later events changes nothing that they said', () => {
  const stream = new EventStream()
  const call = { callId: 'c', tool: 'Read' }
  const first = stream.add('tool.call.started', { ...call, params: {} })
  const last = stream.add('tool.call.completed', call)
  const rows = new TraceRows()
  rows.event(last)
  rows.page({ ...indexed([first]), seq: 1 })
  expect(rows.spans()).toMatchObject([{ status: 'ok', startedMs: expect.any(Number), orphan: false }])
  expect(rows.takeChanges().spans).toHaveLength(1)
  expect(rows.takeChanges()).toEqual({ spans: [], marks: [] })
})

test('[MUS-386] what was erased is shown no more, whichever is told first', () => {
  const stream = new EventStream()
  const mark = stream.add('result.summary', { summary: 'the secret' })
  const erased = stream.add('journal.erased', { seqs: [mark.seq], reason: 'secret', by: 'me' })
  for (const order of [
    [mark, erased],
    [erased, mark],
  ]) {
    const rows = new TraceRows()
    for (const event of order) rows.event(event)
    expect(rows.marks()).toMatchObject([{ seq: mark.seq, title: null }])
  }
})

test('[MUS-386] a call counts once in its span, whatever is reported and corrected, and wherever the page ends', () => {
  const stream = new EventStream()
  const ends = (n: number, input: number, costUsd?: number) =>
    ({
      model: 'm',
      responseId: `r${n}`,
      usage: { input },
      ...(costUsd !== undefined && { costUsd }),
    }) as const
  for (const n of [1, 2]) stream.add('llm.request.started', { model: 'm' }, { spanId: spanIdOf(n) })
  stream.add('llm.request.completed', ends(1, 10, 0.5), { spanId: spanIdOf(1) })
  stream.add('llm.request.completed', ends(2, 100), { spanId: spanIdOf(2) })
  stream.add('llm.usage.corrected', ends(2, 120, 0.25), { spanId: spanIdOf(9) })
  const whole = indexed(stream.events)
  expect(whole.spans.map(({ tokens, costUsd }) => [tokens, costUsd])).toEqual([
    [10, 0.5],
    [120, 0.25],
  ])
  for (const cut of [0, 1, 2, 3]) {
    const rows = new TraceRows()
    rows.page({ ...indexed(stream.events.slice(0, cut)), seq: cut })
    for (const event of stream.events.toReversed()) rows.event(event)
    expect(rows.spans()).toEqual(whole.spans)
    expect(rows.isOutdated).toBe(false)
  }
  // Which span the corrected call was in is known to the index alone.
  const rows = new TraceRows()
  rows.page({ ...indexed(stream.events.slice(0, 4)), seq: 4 })
  for (const event of stream.events.slice(4)) rows.event(event)
  expect(rows.isOutdated).toBe(true)
})

test('[MUS-386] every span and mark is in the tree once, whatever they say of their parents', () => {
  fc.assert(
    fc.property(eventStreams(60), fc.boolean(), (events, isNested) => {
      const rows = new TraceRows()
      for (const event of events) rows.event(event)
      const [spans, marks] = [rows.spans(), rows.marks()]
      const ids = [...new Set(spans.map(({ sessionId }) => sessionId))]
      // Sessions can name each other in a circle, too.
      const sessions = ids.map((sessionId, i) => ({
        sessionId,
        parentId: isNested ? (ids[(i + 1) % ids.length] ?? null) : null,
      }))
      const nodes = [...walk(traceTree({ sessions, spans, marks }))]
      expect(nodes).toHaveLength(spans.length + marks.length)
      expect(new Set(nodes).size).toBe(nodes.length)
    }),
    runs(150),
  )
})
