import { expect, test } from 'vitest'
import { EventStream } from '../../../test/support/events.ts'
import type { SignalOf } from '../../contract/signal.ts'
import { modelCall, ReportedCosts } from './model-usage.ts'

const stream = new EventStream()

test('[MUS-180] a model call is known by its response id and has the tokens it was given or their sum', () => {
  const usage = { input: 10, output: 5, cacheRead: 100, cacheWrite: 20, reasoning: 4 }
  const answer = stream.add('llm.request.completed', { responseId: 'r', model: 'm', usage })
  expect(modelCall(answer)).toMatchObject({
    responseId: 'r',
    isCorrection: false,
    tokens: 135,
    costNano: undefined,
  })
  const stated = stream.add('llm.request.completed', {
    responseId: 'r',
    model: 'm',
    usage: { ...usage, total: 99 },
  })
  expect(modelCall(stated)).toMatchObject({ tokens: 99 })
})

test('[MUS-181] prices are whole billionths, so that their sums are exact', () => {
  const tenth = stream.add('llm.usage.corrected', { responseId: 'r', usage: {}, costUsd: 0.1 })
  const call = modelCall(tenth)
  expect(call).toMatchObject({ isCorrection: true, costNano: 100_000_000, tokens: 0 })
  expect((call?.costNano ?? 0) * 3).toBe(300_000_000)
})

test('[MUS-180] no other event is a leaf of the ledger', () => {
  expect(modelCall(stream.add('agent.completed', { agentId: 'a', tokens: 9 }))).toBeUndefined()
  expect(modelCall(stream.add('llm.request.failed', { model: 'm', error: 'x' }))).toBeUndefined()
})

test('[MUS-239] a sum that grows after a restart is laid upon no call that was priced before it', () => {
  const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
  const call = (responseId: string) =>
    ({ kind: 'usage', source: 'transcript', at: 0, responseId, model: 'm', usage }) as SignalOf<'usage'>
  const costs = new ReportedCosts(false)
  costs.used(call('before'), true)
  costs.told(1.2)
  costs.told(2)
  expect(costs.take()).toBeUndefined()
  costs.used(call('after'))
  expect(costs.take()).toMatchObject({ responseId: 'after', costUsd: expect.closeTo(0.8) })
  costs.told(2.5)
  expect(costs.take()).toMatchObject({ responseId: 'after', costUsd: expect.closeTo(1.3) })
})
