import { expect, test } from 'vitest'
import { type DurableBed, durableSuite } from '../../../test/suites/durable.ts'
import { asker } from '../../../test/support/asker.ts'
import { openLocalBed } from '../../../test/support/local-bed.ts'
import { systemClock } from '../../adapters/system/clock.ts'
import { draftOf } from '../../engine/sessions/drafts.ts'
import type { Procedure } from '../../ports/durable.ts'
import type { LocalDurable } from './local-durable.ts'

durableSuite('the local runner', openLocalBed)

const nap = (ms: number) => systemClock.sleep(ms, new AbortController().signal)

/** A workflow that stands still: what it did could not be written, and a branch of it does not obey until it is let go. */
async function halted() {
  const written = Promise.withResolvers<void>()
  const letGo = Promise.withResolvers<void>()
  const bed = await openLocalBed(({ done }) => {
    const deaf: Procedure<null, void> = {
      name: 'deaf',
      version: '1',
      run: (flow) =>
        flow.step('works', async () => {
          done.push('begins')
          await letGo.promise
          done.push('ends')
        }),
    }
    const outer: Procedure<null, void> = {
      name: 'outer',
      version: '1',
      async run(flow) {
        flow.child('inner', deaf, null)
        await flow.step('waits', () => written.promise)
      },
    }
    return [
      {
        name: 'both',
        version: '1',
        async run(flow) {
          await flow.child('outer', outer, null).result()
          await flow.waitSignal('go')
          return 'done'
        },
      },
    ]
  })
  await bed.durable().start('both', { id: 'w', input: null, at: await bed.place() })
  while (bed.world.done.length === 0) await nap(2)
  bed.failFrom(1)
  written.resolve()
  await expect(bed.durable().result('w')).rejects.toThrow('could not be written down')
  bed.failFrom(Infinity)
  return { bed, durable: bed.durable() as LocalDurable, letGo }
}

test('[MUS-275] those who go on with the same workflow at once get one run of it', async () => {
  const { bed, durable, letGo } = await halted()
  letGo.resolve()
  await nap(5)
  const [first, second] = await Promise.all([durable.resume('w'), durable.resume('w'), durable.takeUp()])
  expect([first, second]).toEqual([true, true])
  await durable.signal('w', { topic: 'go', value: null })
  expect(await durable.result('w')).toBe('done')
  expect(bed.world.done).toEqual(['begins', 'ends', 'begins', 'ends'])
  const types = (await bed.events()).map(({ type }) => type)
  expect(types.filter((type) => type === 'workflow.checkpoint.resumed')).toHaveLength(1)
})

test('[MUS-275] [MUS-306] a workflow goes on when the run before has left, and not beside it, for whoever resumed it', async () => {
  const { bed, durable, letGo } = await halted()
  const resumed = durable.resume('w', asker('me'))
  await nap(20)
  expect(bed.world.done).toEqual(['begins'])
  letGo.resolve()
  expect(await resumed).toBe(true)
  await durable.signal('w', { topic: 'go', value: null })
  expect(await durable.result('w')).toBe('done')
  expect(bed.world.done).toEqual(['begins', 'ends', 'begins', 'ends'])
  const went = (await bed.events()).filter(({ type }) => type === 'workflow.checkpoint.resumed')
  expect(went.map(({ by }) => by)).toEqual([asker('me').by])
})

test('[MUS-275] one that cannot be stopped is not begun a second time beside itself', async () => {
  const { bed, durable, letGo } = await halted()
  await expect(durable.resume('w')).rejects.toMatchObject({ code: 'conflict' })
  expect(bed.world.done).toEqual(['begins'])
  letGo.resolve()
})

test('[MUS-275] a stop waits for what a cancelled workflow still puts away', async () => {
  const bed = await openLocalBed(({ done }) => [
    {
      name: 'tidies',
      version: '1',
      async run(flow) {
        await flow.waitSignal('go').catch(() => {})
        await nap(2300)
        done.push('tidy')
      },
    },
  ])
  const durable = bed.durable() as LocalDurable
  await durable.start('tidies', { id: 'w', input: null, at: await bed.place() })
  await durable.cancel('w', { by: asker('me'), reason: 'enough' })
  expect(bed.world.done).toEqual([])
  await durable.stop()
  expect(bed.world.done).toEqual(['tidy'])
})

/** A workflow that only waits, and has something to say when it is ended before that is over. */
const waiting = (version = '1'): Procedure<never, unknown> => ({
  name: 'waiting',
  version,
  run: (flow) => flow.waitSignal('go'),
  closing: async ({ root }, reason, write) =>
    write([draftOf(root, 'progress.checkpoint', { message: `last: ${reason}` })]),
})
const told = async (bed: DurableBed) =>
  (await bed.events()).flatMap(({ type, payload }) =>
    type === 'progress.checkpoint' || type.startsWith('workflow.cancelled')
      ? [(payload as { message?: string }).message ?? type]
      : [],
  )

test('[MUS-275] last words are written with the end of a workflow or not at all, and once', async () => {
  const bed = await openLocalBed(() => [waiting()])
  await bed.durable().start('waiting', { id: 'w', input: null, at: await bed.place() })
  bed.failFrom(1)
  await expect(bed.durable().cancel('w', { by: asker('anna'), reason: 'enough' })).rejects.toThrow('gone')
  await bed.crash()
  expect(await told(bed)).toEqual([])
  const cancel = () => bed.durable().cancel('w', { by: asker('anna'), reason: 'enough' })
  expect(await Promise.all([cancel(), cancel()])).toContain('delivered')
  expect(await told(bed)).toEqual(['last: enough', 'workflow.cancelled'])
  await bed.crash()
  expect(await told(bed)).toEqual(['last: enough', 'workflow.cancelled'])
})

test('[MUS-275] also one that stands still under another version has its last words, and an end when they fail', async () => {
  const bed = await openLocalBed(() => [waiting()])
  const at = await bed.place()
  await bed.durable().start('waiting', { id: 'w', input: null, at })
  await bed.crash({ procedures: [waiting('2')] })
  await bed.durable().cancel('w', { by: asker('anna'), reason: 'old' })
  expect(await told(bed)).toEqual(['last: old', 'workflow.cancelled'])
  const broken = { ...waiting(), closing: () => Promise.reject(new Error('no words')) }
  await bed.crash({ procedures: [broken] })
  await bed.durable().start('waiting', { id: 'v', input: null, at })
  await bed.durable().cancel('v', { by: asker('anna'), reason: 'enough' })
  expect(await told(bed)).toEqual(['last: old', 'workflow.cancelled', 'workflow.cancelled'])
})
