import { expect, test } from 'vitest'
import { systemClock } from '../adapters/system/clock.ts'
import type { Draft } from '../contract/event.ts'
import { Recorder } from './recorder.ts'

const draft = (n: number) => ({ type: 'agent.idle', payload: { agentId: `${n}` } }) as unknown as Draft
const numbers = (drafts: readonly Draft[]) =>
  drafts.map(({ payload }) => Number((payload as { agentId: string }).agentId))

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** A recorder whose lulls and writes end when the test says so. */
function slow() {
  const batches: number[][] = []
  const lulls: (() => void)[] = []
  const writes: (() => void)[] = []
  const held = (list: (() => void)[]) => new Promise<void>((resolve) => void list.push(resolve))
  let now = 0
  const recorder = new Recorder({
    perform: (drafts) => {
      batches.push(numbers(drafts))
      return held(writes)
    },
    onFailure: () => {},
    clock: { ...systemClock, now: () => (now += 1000), sleep: () => held(lulls) },
  })
  const next = async (list: (() => void)[]) => {
    list.shift()?.()
    await turn()
  }
  return { recorder, batches, lullEnds: () => next(lulls), written: () => next(writes) }
}

test('[MUS-257] facts are written in their order, those of a moment as one batch', async () => {
  const { recorder, batches, lullEnds, written } = slow()
  recorder.record([draft(1)])
  recorder.record([draft(2)])
  await turn()
  expect(batches).toEqual([])
  await lullEnds()
  expect(batches).toEqual([[1, 2]])
  const kept = Promise.withResolvers<Draft[]>()
  recorder.record(() => kept.promise)
  recorder.record([draft(4)])
  await written()
  await lullEnds()
  expect(batches).toHaveLength(1)
  kept.resolve([draft(3)])
  await turn()
  expect(batches).toEqual([
    [1, 2],
    [3, 4],
  ])
})

test('[MUS-257] who waits for the disk waits for no lull, and for all that was recorded', async () => {
  const { recorder, batches, written } = slow()
  recorder.record([draft(1)])
  let isDurable = false
  const durable = recorder.durable().then(() => (isDurable = true))
  await turn()
  recorder.record([draft(2)])
  await written()
  expect([batches, isDurable]).toEqual([[[1], [2]], false])
  await written()
  await durable
  await recorder.durable()
})

test('[MUS-257] a fact has the time at which it was recorded, however late it is written', async () => {
  const drafts: Draft[] = []
  let now = 0
  const recorder = new Recorder({
    perform: async (written) => void drafts.push(...written),
    onFailure: () => {},
    clock: { ...systemClock, now: () => (now += 1000) },
  })
  recorder.record([draft(1)])
  recorder.record(async () => [draft(2)])
  await recorder.durable()
  const times = drafts.map(({ timestamp }) => timestamp)
  expect(times).toEqual(['1970-01-01T00:00:01.000Z', '1970-01-01T00:00:02.000Z'])
})

test('[MUS-257] after a failure nothing is written, and everybody who waits is told', async () => {
  const failures: unknown[] = []
  const recorder = new Recorder({
    perform: () => Promise.reject(new Error('full')),
    onFailure: (error) => failures.push(error),
    clock: systemClock,
  })
  recorder.record([draft(1)])
  await expect(recorder.durable()).rejects.toThrow('full')
  recorder.record([draft(2)])
  await expect(recorder.durable()).rejects.toThrow('full')
  expect(failures).toHaveLength(1)
})

test('[MUS-379] what is told beside the facts has its place among them, and waits for no lull where nothing is to be written', async () => {
  const { recorder, batches, lullEnds, written } = slow()
  const told: string[] = []
  const tell = (word: string) =>
    recorder.tell(() => void told.push(`${word} after ${batches.flat().join(',')}`))
  tell('nothing')
  expect(told).toEqual(['nothing after '])
  recorder.record([draft(1)])
  tell('one')
  recorder.record([draft(2)])
  tell('two')
  await lullEnds()
  expect([batches, told]).toEqual([[[1]], ['nothing after ']])
  await written()
  expect([batches, told]).toEqual([
    [[1], [2]],
    ['nothing after ', 'one after 1'],
  ])
  tell('meanwhile')
  await written()
  expect(told).toEqual(['nothing after ', 'one after 1', 'two after 1,2', 'meanwhile after 1,2'])
})
