import { expect, test } from 'vitest'
import type { Model, ModelTurn } from '../ports/model.ts'
import { Slots } from './slots.ts'

const done: ModelTurn = { responseId: '', parts: [], usage: {}, finish: 'stop' }
const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

test('[MUS-266] so many at a time, the others in order; who gives up leaves its place to the next', async () => {
  const begun: string[] = []
  const ends: (() => void)[] = []
  const model = (id: string): Model => ({
    provider: 'p',
    id,
    turn: () =>
      new Promise((resolve) => {
        begun.push(id)
        ends.push(() => resolve(done))
      }),
  })
  const slots = new Slots(() => 2)
  const off = new AbortController()
  const never = new AbortController().signal
  const ask = (id: string, signal = never) =>
    slots.guard(model(id)).turn({ messages: [], tools: [] }, { signal })
  const all = [ask('a'), ask('b'), ask('c', off.signal), ask('d')]
  const gone = expect(all[2]).rejects.toThrow('given up')
  await turn()
  expect(begun).toEqual(['a', 'b'])
  off.abort(new Error('given up'))
  await gone
  ends.shift()?.()
  await turn()
  expect(begun).toEqual(['a', 'b', 'd'])
  for (const end of ends) end()
  await Promise.all([all[0], all[1], all[3]])
})
