import { expect, test } from 'vitest'
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
