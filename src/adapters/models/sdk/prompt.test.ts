import { expect, test } from 'vitest'
import type { SaidPart } from '../../../ports/model.ts'
import { promptOf } from './prompt.ts'

const told = (...parts: SaidPart[]) => promptOf([{ role: 'assistant', parts }])[0]?.content

test('[MUS-251] an answer in which nothing was said is never told as an empty one, nor as a mere thought', () => {
  const nothing = { type: 'text', text: '(no answer)' }
  expect(told()).toEqual([nothing])
  expect(told({ kind: 'text', text: ' \n' })).toEqual([nothing])
  const thought: SaidPart = { kind: 'thinking', text: 'hm', opaque: { anthropic: { signature: 's' } } }
  expect(told(thought)).toEqual([expect.objectContaining({ type: 'reasoning', text: 'hm' }), nothing])
  expect(told({ kind: 'call', callId: 'c', tool: 'Read', input: {} })).toHaveLength(1)
  expect(told(thought, { kind: 'text', text: 'Here.' })).toHaveLength(2)
})
