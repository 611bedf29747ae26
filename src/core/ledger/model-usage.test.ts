import { expect, test } from 'vitest'
import { EventStream } from '../../../test/support/events.ts'
import { modelCall } from './model-usage.ts'

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
