import { expect, test } from 'vitest'
import type { SignalOf } from '../../contract/signal.ts'
import { UntoldCalls } from './untold-calls.ts'

const seen = { source: 'transcript', at: 1 } as const
const call = (responseId: string, input: number, finishReason?: string): SignalOf<'usage'> => ({
  ...seen,
  kind: 'usage',
  responseId,
  model: 'm',
  usage: { input, output: 1 },
  ...(finishReason && { finishReason }),
})
const total = (foreignId: string, input: number, output: number): SignalOf<'totals'> => ({
  ...seen,
  kind: 'totals',
  foreignId,
  models: { m: { input, output, cacheRead: 0, cacheWrite: 0 } },
})

test('[MUS-327] what a total has more than the calls that were told is a call of its own', () => {
  const calls = new UntoldCalls()
  calls.used(call('a', 10))
  // A later line of the same response has its whole.
  calls.used(call('a', 100, 'tool_use'))
  calls.used(call('b', 200, 'end_turn'))
  expect(calls.of(total('one', 1300, 5))).toEqual([
    {
      ...seen,
      kind: 'usage',
      responseId: 'one:untold:m',
      model: 'm',
      usage: { input: 1000, output: 3, cacheRead: 0, cacheWrite: 0 },
    },
  ])
})

test('[MUS-327] a total that is complete tells nothing new, and an answer that was broken off takes nothing from it', () => {
  const calls = new UntoldCalls()
  calls.used(call('a', 100, 'end_turn'))
  calls.used(call('cut', 50))
  expect(calls.of(total('one', 100, 1))).toEqual([])
})

test('[MUS-327] each conversation has its own total, and a later one of the same conversation replaces the first', () => {
  const calls = new UntoldCalls()
  calls.used(call('a', 100, 'end_turn'))
  expect(calls.of(total('one', 150, 1))).toMatchObject([{ usage: { input: 50 } }])
  calls.used(call('b', 100, 'end_turn'))
  expect(calls.of(total('two', 100, 1))).toEqual([])
  calls.used(call('c', 100, 'end_turn'))
  expect(calls.of(total('one', 270, 2))).toMatchObject([
    { responseId: 'one:untold:m', usage: { input: 70, output: 0 } },
  ])
})
