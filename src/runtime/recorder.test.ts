import { expect, test } from 'vitest'
import type { Draft } from '../contract/event.ts'
import { Recorder } from './recorder.ts'

const draft = (n: number) => ({ type: 'agent.idle', payload: { agentId: `${n}` } }) as unknown as Draft
const numbers = (drafts: readonly Draft[]) =>
  drafts.map(({ payload }) => Number((payload as { agentId: string }).agentId))

function slow() {
  const batches: number[][] = []
  const waiting: (() => void)[] = []
  const perform = (drafts: readonly Draft[]) =>
    new Promise<void>((resolve) => {
      batches.push(numbers(drafts))
      waiting.push(resolve)
    })
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
  return { batches, perform, turn, next: async () => (waiting.shift()?.(), turn()) }
}

test('[MUS-257] facts are written in their order, those that came meanwhile as one batch', async () => {
  const { batches, perform, turn, next } = slow()
  const recorder = new Recorder(perform, () => {})
  recorder.record([draft(1)])
  recorder.record([draft(2)])
  await turn()
  expect(batches).toEqual([[1, 2]])
  const kept = Promise.withResolvers<Draft[]>()
  recorder.record(kept.promise)
  recorder.record([draft(4)])
  await next()
  expect(batches).toHaveLength(1)
  kept.resolve([draft(3)])
  await turn()
  expect(batches).toEqual([
    [1, 2],
    [3, 4],
  ])
  let isDurable = false
  const durable = recorder.durable().then(() => (isDurable = true))
  await turn()
  expect(isDurable).toBe(false)
  await next()
  await durable
})

test('[MUS-257] after a failure nothing is written, and everybody who waits is told', async () => {
  const failures: unknown[] = []
  const recorder = new Recorder(
    () => Promise.reject(new Error('full')),
    (error) => failures.push(error),
  )
  recorder.record([draft(1)])
  await expect(recorder.durable()).rejects.toThrow('full')
  recorder.record([draft(2)])
  await expect(recorder.durable()).rejects.toThrow('full')
  expect(failures).toHaveLength(1)
})
