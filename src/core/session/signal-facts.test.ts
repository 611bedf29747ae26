import { describe, expect, test } from 'vitest'
import { runIdOf, sessionIdOf, spanIdOf, traceIdOf } from '../../../test/support/events.ts'
import type { Signal } from '../../contract/signal.ts'
import { PriceBook } from '../ledger/price-book.ts'
import { Facts } from './signal-facts.ts'

const prices = new PriceBook({
  asOf: '2026-09-22',
  source: 'a test',
  models: { m: { input: 10, output: 100 } },
})
const seen = { source: 'transcript', at: 1000 } as const
const call = (responseId: string, output: number, model = 'm'): Signal => ({
  ...seen,
  kind: 'usage',
  responseId,
  model,
  usage: { input: 1000, output },
  finishReason: 'stop',
})

/** What the ledger is told of these signals. */
function told(signals: readonly Signal[], isPriced = true) {
  const run = { runId: runIdOf(1), spanId: spanIdOf(1) }
  const facts = new Facts({
    sessionId: sessionIdOf(1),
    traceId: traceIdOf(1),
    sessionSpan: spanIdOf(2),
    actor: 'a',
    isNew: true,
    ...(isPriced && { estimate: (model, usage) => prices.estimate(model, usage) }),
  })
  return signals.flatMap((signal) => {
    facts.see(signal)
    return facts
      .of(signal, run)
      .flatMap(({ type, payload }) => (type === 'llm.request.started' ? [] : [payload]))
  })
}

test('[MUS-331] a call is recorded with its cost and the prices it comes from, and corrected with both', () => {
  expect(told([call('r', 1), call('r', 10), call('other', 1, 'unknown')])).toMatchObject([
    { responseId: 'r', costUsd: 0.0101, priceList: '2026-09-22' },
    { responseId: 'r', costUsd: 0.011, priceList: '2026-09-22' },
    { responseId: 'other' },
  ])
  expect(told([call('other', 1, 'unknown')])[0]).not.toHaveProperty('costUsd')
})

test('[MUS-331] the calls of a CLI that reports its cost are not estimated as well', () => {
  const meter: Signal = { kind: 'meter', source: 'hook', at: 1000, costUsd: 0.5, billing: 'plan' }
  const [answer, reported, ...more] = told([call('r', 1), meter], false)
  expect(answer).not.toHaveProperty('costUsd')
  expect(reported).toMatchObject({ responseId: 'r', costUsd: 0.5, billing: 'plan' })
  expect(reported).not.toHaveProperty('priceList')
  expect(more).toEqual([])
})

test('[MUS-327] the total of a conversation adds the calls that its record does not have, once', () => {
  const total: Signal = {
    ...seen,
    kind: 'totals',
    foreignId: 'one',
    models: { m: { input: 5000, output: 7, cacheRead: 0, cacheWrite: 0 } },
  }
  expect(told([call('r', 1), total, total]).slice(1)).toMatchObject([
    { responseId: 'one:untold:m', usage: { input: 4000, output: 6 } },
  ])
})

const turn = { runId: runIdOf(1), spanId: spanIdOf(1) }
const newFacts = () =>
  new Facts({
    sessionId: sessionIdOf(1),
    traceId: traceIdOf(1),
    sessionSpan: spanIdOf(2),
    actor: 'a',
    isNew: true,
  })
const begins = (agentId: string, more: object = {}): Signal =>
  ({ ...seen, kind: 'subagent-start', agentId, agentType: 'Explore', ...more }) as Signal
const calls = (callId: string, agent?: string): Signal =>
  ({ ...seen, kind: 'tool-start', callId, tool: 'Agent', ...(agent && { agent }) }) as Signal

describe('[MUS-374] a subagent in the process of a CLI', () => {
  test('begins once, whoever tells of it, and ends once', () => {
    const facts = newFacts()
    const told = [
      begins('a1', { callId: 'c' }),
      begins('a1', { callId: 'c', description: 'look' }),
      { ...seen, kind: 'subagent-end', agentId: 'a1', text: 'It is there.' } as Signal,
      { ...seen, kind: 'subagent-end', agentId: 'a1' } as Signal,
      begins('a1'),
    ].flatMap((signal) => facts.of(signal, turn))
    expect(told).toMatchObject([
      { type: 'agent.spawned', parentRunId: turn.runId, payload: { agentId: 'a1', triggeredByCallId: 'c' } },
      { type: 'agent.completed', payload: { agentId: 'a1', detail: 'It is there.' } },
    ])
    expect(told[0]?.runId).toBe(facts.agentRun('a1').runId)
  })

  test('works for the one that made the call, at any depth', () => {
    const facts = newFacts()
    const told = [
      calls('c1'),
      begins('a1', { callId: 'c1' }),
      calls('c2', 'a1'),
      begins('a2', { callId: 'c2' }),
      begins('a3', { agent: 'a2' }),
    ].flatMap((signal) => facts.of(signal, turn))
    const parents = told.flatMap(({ type, parentRunId, payload }) =>
      type === 'agent.spawned' ? [[parentRunId, (payload as { depth: number }).depth]] : [],
    )
    expect(parents).toEqual([
      [turn.runId, 1],
      [facts.agentRun('a1').runId, 2],
      [facts.agentRun('a2').runId, 3],
    ])
  })

  test('ends with the call that broke off, or with the turn that waited for it; one in the background works on', () => {
    const facts = newFacts()
    const of = (signal: Signal) => facts.of(signal, turn).map(({ type }) => type)
    const background = { isBackground: true }
    for (const signal of [calls('c1'), calls('c2'), calls('c3')]) of(signal)
    of(begins('refused', { callId: 'c1', ...background }))
    of(begins('awaited', { callId: 'c2', ...background }))
    of(begins('alone', { callId: 'c3', ...background }))
    of(begins('within'))
    const failed: Signal = { ...seen, kind: 'tool-end', callId: 'c1', ok: false, isInterrupt: true }
    expect(of(failed)).toEqual(['agent.cancelled', 'tool.call.failed'])
    of({ ...seen, kind: 'tool-end', callId: 'c3', ok: true })
    const ended = (type: 'agent.completed' | 'agent.cancelled') =>
      facts.turnEnds(type, seen).map(({ payload }) => (payload as { agentId: string }).agentId)
    expect(ended('agent.completed')).toEqual(['within'])
    expect(ended('agent.cancelled')).toEqual(['awaited'])
    expect(of({ ...seen, kind: 'subagent-end', agentId: 'alone', how: 'failed' })).toEqual(['agent.failed'])
  })
})
