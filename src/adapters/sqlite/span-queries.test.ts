import { expect, test } from 'vitest'
import {
  EventStream,
  runIdOf,
  sessionIdOf,
  spanIdOf,
  startMs,
  traceIdOf,
} from '../../../test/support/events.ts'
import { TempIndex } from '../../../test/support/temp-index.ts'
import type { AgentEvent } from '../../contract/event.ts'
import type { SpanRow } from '../../contract/index-rows.ts'

const call = { callId: 'c', tool: 'read_file' } as const

function spansOf(events: readonly AgentEvent[]): SpanRow[] {
  using place = new TempIndex()
  using index = place.queries(events)
  return index.spans({})
}

test('[MUS-11, OBS-31] a tool call is one span, named by its tool, open until its end', () => {
  const stream = new EventStream()
  stream.add('tool.call.started', { ...call, params: { file_path: '/a.ts' } }, { parentSpanId: spanIdOf(9) })
  expect(spansOf(stream.events)).toMatchObject([
    {
      name: 'tool.read_file',
      kind: 'tool',
      tool: 'read_file',
      callId: 'c',
      title: 'read_file /a.ts',
      parentSpanId: spanIdOf(9),
      status: 'open',
      orphan: false,
      durationMs: null,
    },
  ])
  stream.add('tool.call.completed', call)
  expect(spansOf(stream.events)).toMatchObject([
    { seq: 1, status: 'ok', endType: 'tool.call.completed', startedMs: startMs + 1000, durationMs: 1000 },
  ])
})

test('[MUS-11] a second end changes nothing of the first, not even what it left unsaid', () => {
  const stream = new EventStream()
  stream.add('tool.call.started', call)
  stream.add('tool.call.failed', { ...call, reason: 'exit 2' })
  stream.add('tool.call.completed', { ...call, durationMs: 5 })
  expect(spansOf(stream.events)).toMatchObject([
    {
      status: 'error',
      detail: 'exit 2',
      endType: 'tool.call.failed',
      endedMs: startMs + 2000,
      durationMs: 1000,
    },
  ])
})

test('[OBS-34] an end without a start is a closed orphan; a start that comes late completes it', () => {
  const stream = new EventStream()
  stream.add('tool.call.completed', { ...call, durationMs: 40 })
  expect(spansOf(stream.events)).toMatchObject([
    { status: 'ok', orphan: true, startedMs: null, durationMs: 40, name: 'tool.read_file' },
  ])
  stream.add(
    'tool.call.started',
    { ...call, params: { path: 'x' } },
    { atMs: 500, parentSpanId: spanIdOf(3) },
  )
  expect(spansOf(stream.events)).toMatchObject([
    { status: 'ok', orphan: false, startedMs: startMs + 500, parentSpanId: spanIdOf(3) },
  ])
})

test('[MUS-11] points inside a span neither open nor close it', () => {
  const stream = new EventStream()
  stream.add('progress.checkpoint', { message: 'half' })
  expect(spansOf(stream.events)).toEqual([])
})

test('[OBS-13] every kind of end has its status', () => {
  const stream = new EventStream()
  const at = (n: number) => ({ spanId: spanIdOf(n) })
  const agent = { agentId: 'a', agentType: 'developer' }
  stream.add('tool.call.denied', { ...call, gate: 'scope', reason: 'outside' }, at(1))
  stream.add('agent.killed', { agentId: 'a' }, at(2))
  stream.add('agent.abandoned', { agentId: 'a' }, at(3))
  stream.add('agent.cancelled', { agentId: 'a' }, at(4))
  stream.add('handoff.rejected', { from: agent, to: agent, reason: 'busy' }, at(5))
  stream.add('approval.expired', { approvalId: 'x', subject: 'tool' }, at(6))
  stream.add('effect.unknown', { effectId: 'e', effect: 'paste' }, at(7))
  stream.add('workflow.node.exit', { node: 'n', outcome: 'skipped' }, at(8))
  stream.add('workflow.node.exit', { node: 'n', outcome: 'failed' }, at(9))
  stream.add('session.completed', { outcome: 'cancelled' }, at(10))
  stream.add('llm.request.failed', { model: 'm', error: 'overloaded' }, at(11))
  stream.add('loop.round.completed', { round: 1, verdict: 'rejected' }, at(12))
  expect(spansOf(stream.events).map((row) => row.status)).toEqual([
    'denied',
    'killed',
    'abandoned',
    'cancelled',
    'rejected',
    'expired',
    'unknown',
    'skipped',
    'error',
    'cancelled',
    'error',
    'ok',
  ])
})

test('[MUS-180] the span of a model call has the tokens and price of its last report', () => {
  const stream = new EventStream()
  const answer = { responseId: 'r', model: 'opus', usage: { input: 10, output: 1 }, costUsd: 0.5 }
  stream.add('llm.request.started', { model: 'opus' })
  stream.add('llm.request.completed', answer)
  expect(spansOf(stream.events)).toMatchObject([{ name: 'opus', model: 'opus', tokens: 11, costUsd: 0.5 }])
  stream.add(
    'llm.usage.corrected',
    { responseId: 'r', usage: { input: 20 }, costUsd: 0.75 },
    { spanId: spanIdOf(5) },
  )
  expect(spansOf(stream.events)).toMatchObject([{ tokens: 20, costUsd: 0.75 }])
})

test('[OBS-50] spans are read by session, by trace, by both, open ones alone, in pages', () => {
  const stream = new EventStream()
  for (let i = 0; i < 12; i++) {
    const place = { spanId: spanIdOf(i), sessionId: sessionIdOf(1 + (i % 2)), traceId: traceIdOf(i % 3) }
    stream.add('tool.call.started', call, { ...place, runId: runIdOf(1 + (i % 2)), phase: 'work' })
    if (i >= 4) stream.add('tool.call.completed', call, place)
  }
  using place = new TempIndex()
  using index = place.queries(stream.events)
  const ids = (filter: object) => index.spans(filter).map((row) => Number.parseInt(row.spanId, 16) - 1)
  expect(ids({ sessionId: sessionIdOf(2) })).toEqual([1, 3, 5, 7, 9, 11])
  expect(ids({ traceId: traceIdOf(0) })).toEqual([0, 3, 6, 9])
  expect(ids({ traceId: traceIdOf(0), sessionId: sessionIdOf(2) })).toEqual([3, 9])
  expect(ids({ isOpen: true })).toEqual([0, 1, 2, 3])
  expect(ids({ sessionId: sessionIdOf(1), isOpen: false })).toEqual([4, 6, 8, 10])
  const [, , third] = index.spans({ limit: 3 })
  expect(ids({ limit: 3, after: third?.seq ?? 0 })).toEqual([3, 4, 5])
  expect(index.spans({})[0]).toMatchObject({ phase: 'work', actor: 'agent' })
})
