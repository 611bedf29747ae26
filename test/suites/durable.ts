import { describe, expect, test } from 'vitest'
import type { AgentEvent } from '../../src/contract/event.ts'
import { draftOf } from '../../src/engine/sessions/drafts.ts'
import { type Durable, type Flow, type FlowPlace, type Procedure, waitStep } from '../../src/ports/durable.ts'
import { asker } from '../support/asker.ts'

/** Effects that procedures have on the world outside; they survive a crash. */
export type World = { readonly done: string[] }

/** A durable store with a runner on it, that can be killed at any moment and opened again. */
export type DurableBed = {
  readonly durable: () => Durable
  /** A place for a new workflow. */
  readonly place: () => Promise<FlowPlace>
  readonly events: () => Promise<readonly AgentEvent[]>
  /** Nothing more is written by the runner that is there; then another one goes on. */
  readonly crash: (options?: { readonly procedures?: readonly Procedure<never, unknown>[] }) => Promise<void>
  /** From now on the n-th write from here fails, and all after it, as if the process were gone. */
  readonly failFrom: (n: number) => void
  /** How much was asked of the store so far: facts and results that were written or read. */
  readonly cost: () => number
  readonly world: World
}

export type OpenBed = (
  procedures: (world: World) => readonly Procedure<never, unknown>[],
) => Promise<DurableBed>

const procedure = <I, O>(name: string, run: (flow: Flow, input: I) => Promise<O>, version = '1') =>
  ({ name, version, run }) as Procedure<never, unknown>

const tick = () => new Promise<void>((resolve) => setTimeout(resolve, 5))

async function until(holds: () => Promise<boolean> | boolean): Promise<void> {
  for (let i = 0; i < 2000; i++) {
    if (await holds()) return
    await tick()
  }
  throw new Error('it never came to be so')
}

/** What every durable runner does, whatever it keeps its steps in. */
export function durableSuite(name: string, open: OpenBed): void {
  describe(name, () => {
    const acting = (world: World, flow: Flow, what: string) =>
      flow.step(what, async ({ count, tell }) => {
        world.done.push(`${flow.id}:${what}`)
        tell(draftOf(flow.root(), 'progress.checkpoint', { message: `${flow.id}:${what}` }))
        await tick()
        count({ tokens: 2 })
        return what.length
      })

    /** Two rounds of three branches with two steps each, a question, a nap, and a sum at the end. */
    const all = (world: World) => {
      const branch: Procedure<{ word: string; fails?: boolean }, number> = {
        name: 'branch',
        version: '1',
        async run(flow, { word, fails }) {
          const first = await acting(world, flow, `${word}-one`)
          if (fails) throw new Error(`${word} failed`)
          return first + (await acting(world, flow, `${word}-two`))
        },
      }
      return [
        procedure('all', async (flow, { words }: { words: string[] }) => {
          let sum = await acting(world, flow, 'plan')
          for (const round of [1, 2]) {
            const waiting = new Map(
              words.map((word, i) => {
                const child = flow.child(`r${round}/${word}#1`, branch, {
                  word,
                  fails: i === 1 && round === 1,
                })
                return [child.id, child] as const
              }),
            )
            while (waiting.size > 0) {
              const first = await flow.waitFirst([...waiting.values()])
              waiting.delete(first.id)
              sum += await first.result().catch(() => 1000)
            }
          }
          const said = await flow.waitSignal('go')
          await flow.sleep('nap', 5)
          const late = await flow.waitSignal('never', { timeoutMs: 5 })
          return { sum, said: said?.value, late: late === undefined }
        }),
      ]
    }
    const answer = { sum: 4 + 3 * 10 + 1000 + 2 * 10, said: 'yes', late: true }

    test('[MUS-275] a workflow runs its steps, branches, questions and naps to one end', async () => {
      const bed = await open(all)
      const at = await bed.place()
      const input = { words: ['a', 'b', 'c'] }
      expect(await bed.durable().start('all', { id: 'w1', input, at })).toBe('started')
      expect(await bed.durable().signal('w1', { topic: 'go', value: 'yes' })).toBe('delivered')
      expect(await bed.durable().result('w1')).toEqual(answer)
      expect(bed.world.done).toHaveLength(1 + 5 + 6)
      await until(async () => (await ends(bed)).length === 1)
      expect(await bed.durable().result('w1')).toEqual(answer)
      expect(await bed.durable().list()).toMatchObject([{ id: 'w1', name: 'all', status: 'completed' }])
    })

    test('[MUS-275] [MUS-165] [MUS-168] killed at any write, it comes to the same end, and nothing that was written is done again', async () => {
      let isOver = false
      for (let n = 1; !isOver; n++) {
        const bed = await open(all)
        const at = await bed.place()
        const begin = async () => {
          await bed.durable().start('all', { id: 'w1', input: { words: ['a', 'b', 'c'] }, at })
          if ((await saidTo(bed)) === 0) await bed.durable().signal('w1', { topic: 'go', value: 'yes' })
          return bed.durable().result('w1')
        }
        bed.failFrom(n)
        isOver = await begin().then(
          () => true,
          () => false,
        )
        if (isOver) break
        const written = (await bed.events()).flatMap((event) =>
          event.type === 'workflow.checkpoint.saved' ? [event.payload.step] : [],
        )
        const before = bed.world.done.length
        await bed.crash()
        expect(await begin(), `killed at write ${n}`).toEqual(answer)
        const again = bed.world.done.slice(before).map((what) => what.slice('w1:'.length).replace(/^\//, ''))
        const paths = again.map((what) => what.replace(':', '/'))
        expect(paths.filter((path) => written.includes(path))).toEqual([])
        expect(new Set(again).size).toBe(again.length)
        // A step that was done again has told what it tells once.
        const facts = (await bed.events()).flatMap((event) =>
          event.type === 'progress.checkpoint' ? [event.payload.message] : [],
        )
        expect(facts, `killed at write ${n}`).toHaveLength(new Set(bed.world.done).size)
        expect(new Set(facts), `killed at write ${n}`).toEqual(new Set(bed.world.done))
        // Each agent is counted once, whenever it was that it worked.
        expect(await ends(bed)).toMatchObject([{ payload: { totalAgents: 12, totalTokens: 24 } }])
      }
    })

    test('[MUS-275] [MUS-164] the same id with the same input is the same workflow; with another it is refused', async () => {
      const bed = await open((world) => [
        procedure('one', async (flow) => {
          await acting(world, flow, 'act')
          await flow.waitSignal('go')
          return 'done'
        }),
      ])
      const at = await bed.place()
      const starts = await Promise.all(
        [1, 2, 3].map(() => bed.durable().start('one', { id: 'w', input: 1, at })),
      )
      expect(starts.toSorted()).toEqual(['known', 'known', 'started'])
      await expect(bed.durable().start('one', { id: 'w', input: 2, at })).rejects.toMatchObject({
        code: 'conflict',
      })
      await bed.durable().signal('w', { topic: 'go', value: undefined })
      expect(await bed.durable().result('w')).toBe('done')
      await until(async () => (await ends(bed)).length === 1)
      expect(await bed.durable().start('one', { id: 'w', input: 1, at })).toBe('known')
      await expect(bed.durable().start('one', { id: 'w', input: 2, at })).rejects.toMatchObject({
        code: 'conflict',
      })
      expect(bed.world.done).toEqual(['w:act'])
      await expect(bed.durable().start('none', { id: 'v', input: 1, at })).rejects.toMatchObject({
        code: 'not_found',
      })
    })

    test('[MUS-275] [MUS-169] what is told before somebody waits is heard, each once, also after a crash', async () => {
      const bed = await open(() => [
        procedure('hears', async (flow) => {
          const first = await flow.waitSignal('word')
          const second = await flow.waitSignal('word')
          return [first?.value, second?.value]
        }),
      ])
      await bed.durable().start('hears', { id: 'w', input: null, at: await bed.place() })
      expect(await bed.durable().signal('w', { topic: 'word', value: { n: 1 } })).toBe('delivered')
      await bed.crash()
      expect(await bed.durable().signal('w', { topic: 'word', value: { n: 2 } })).toBe('delivered')
      expect(await bed.durable().result('w')).toEqual([{ n: 1 }, { n: 2 }])
      await until(async () => (await ends(bed)).length === 1)
      expect(await bed.durable().signal('w', { topic: 'word', value: 3 })).toBe('finished')
      expect(await bed.durable().signal('nobody', { topic: 'word', value: 3 })).toBe('unknown')
    })

    test('[MUS-275] a failure is kept as it was, and is caught the same way after a crash', async () => {
      const bed = await open((world) => [
        procedure('fails', async (flow) => {
          const caught = await flow
            .step('bad', async () => {
              world.done.push('bad')
              throw new Error('no such thing')
            })
            .catch((error: Error) => error.message)
          await flow.waitSignal('go')
          throw new Error(`in the end: ${String(caught)}`)
        }),
      ])
      await bed.durable().start('fails', { id: 'w', input: null, at: await bed.place() })
      await until(async () => (await bed.events()).some(({ type }) => type === 'workflow.checkpoint.saved'))
      await bed.crash()
      await bed.durable().signal('w', { topic: 'go', value: null })
      await expect(bed.durable().result('w')).rejects.toThrow('in the end: no such thing')
      expect(bed.world.done).toEqual(['bad'])
      await until(async () => (await ends(bed)).length === 1)
      expect((await ends(bed)).map(({ type }) => type)).toEqual(['workflow.failed'])
      expect(await bed.durable().list()).toMatchObject([{ id: 'w', status: 'failed' }])
    })

    test('[MUS-275] [MUS-170] a cancel reaches every branch and is its one end, also when a branch does not obey', async () => {
      const stubborn: Procedure<null, void> = {
        name: 'stubborn',
        version: '1',
        run: (flow) => flow.step('deaf', () => new Promise<void>(() => {})),
      }
      let heard = 0
      const waits: Procedure<null, void> = {
        name: 'waits',
        version: '1',
        run: (flow) =>
          flow.step('listens', ({ signal }) => {
            return new Promise((_resolve, reject) => {
              signal.addEventListener('abort', () => {
                heard += 1
                reject(signal.reason as Error)
              })
            })
          }),
      }
      const bed = await open(() => [
        procedure('both', async (flow) => {
          const children = [flow.child('a', stubborn, null), flow.child('b', waits, null)]
          await Promise.all(children.map((child) => child.result()))
        }),
      ])
      await bed.durable().start('both', { id: 'w', input: null, at: await bed.place() })
      await tick()
      expect(await bed.durable().cancel('w', { by: asker('me'), reason: 'enough' })).toBe('delivered')
      expect(heard).toBe(1)
      expect(await ends(bed)).toMatchObject([
        { type: 'workflow.cancelled', payload: { workflowId: 'w', by: 'me', reason: 'enough' } },
      ])
      expect(await bed.durable().cancel('w', { by: asker('me'), reason: 'enough' })).toBe('finished')
      expect(await bed.durable().cancel('nobody', { by: asker('me'), reason: 'enough' })).toBe('unknown')
      await bed.crash()
      expect(await bed.durable().list()).toMatchObject([{ id: 'w', status: 'cancelled' }])
    })

    test('[MUS-275] [MUS-173] a fork has all that was done before a step, under its own id, and does the rest itself', async () => {
      const bed = await open((world) => {
        const part: Procedure<string, string> = {
          name: 'part',
          version: '1',
          run: async (flow, word) => {
            await acting(world, flow, word)
            return `${word} of ${flow.id}`
          },
        }
        return [
          procedure('forked', async (flow, input: string) => {
            const plan = await flow.step('plan', async () => {
              world.done.push(`${flow.id}:plan`)
              return `${input}!`
            })
            const a = await flow.child('a', part, 'x').result()
            const b = await flow.child('b', part, 'y').result()
            return [plan, a, b]
          }),
        ]
      })
      const at = await bed.place()
      await bed.durable().start('forked', { id: 'w', input: 'in', at })
      expect(await bed.durable().result('w')).toEqual(['in!', 'x of w/a', 'y of w/b'])
      await until(async () => (await ends(bed)).length === 1)
      await bed.durable().fork('w', { as: 'v', at: await bed.place(), before: 'b' })
      expect(await bed.durable().result('v')).toEqual(['in!', 'x of w/a', 'y of v/b'])
      expect(bed.world.done).toEqual(['w:plan', 'w/a:x', 'w/b:y', 'v/b:y'])
      await expect(
        bed.durable().fork('w', { as: 'u', at: await bed.place(), before: 'z' }),
      ).rejects.toMatchObject({ code: 'not_found' })
    })

    test('[MUS-173] a fork does again what is true of one run only, once, and asks what nobody has answered', async () => {
      const bed = await open((world) => [
        procedure('asks', async (flow) => {
          const did = (what: string) => void world.done.push(`${flow.id}:${what}`)
          const begun = await flow.step(
            'begin',
            async ({ gave }) => {
              did(`begin after ${String(gave)}`)
              return flow.id
            },
            { again: true },
          )
          const answer = await flow.step('answer', async () => {
            did('answer')
            return 42
          })
          await flow.step('ask', async () => did('ask'), { again: { unless: waitStep('go') } })
          const said = await flow.waitSignal(`go of ${flow.id}`, { as: 'go' })
          await flow.step('end', async () => did('end'), { again: true })
          return [begun, answer, said?.value]
        }),
      ])
      const done = (id: string) => bed.world.done.filter((what) => what.startsWith(`${id}:`))
      await bed.durable().start('asks', { id: 'w', input: null, at: await bed.place() })
      await until(() => done('w').length === 3)
      await until(async () => (await stepsOf(bed, 'w')).includes('ask'))
      // It waits for a person: so does its fork, who is asked there.
      await bed.durable().fork('w', { as: 'v', at: await bed.place() })
      await until(async () => (await stepsOf(bed, 'v')).filter((step) => step === 'ask').length === 2)
      expect(done('v')).toEqual(['v:begin after w', 'v:ask'])
      await bed.crash()
      await bed.durable().signal('v', { topic: 'go of v', value: 'yes' })
      expect(await bed.durable().result('v')).toEqual(['v', 42, 'yes'])
      expect(done('v')).toEqual(['v:begin after w', 'v:ask', 'v:end'])
      // What was answered stays answered.
      await bed.durable().fork('v', { as: 'u', at: await bed.place() })
      expect(await bed.durable().result('u')).toEqual(['u', 42, 'yes'])
      expect(done('u')).toEqual(['u:begin after v', 'u:end'])
    })

    test('[MUS-173] what cannot be forked says what to do instead, and nothing begins', async () => {
      const bed = await open(() => [
        { ...procedure('whole', async () => 'done'), unforkable: 'begin another by hand' },
      ])
      await bed.durable().start('whole', { id: 'w', input: null, at: await bed.place() })
      await bed.durable().result('w')
      const at = await bed.place()
      const before = (await bed.events()).length
      await expect(bed.durable().fork('w', { as: 'v', at })).rejects.toMatchObject({
        code: 'conflict',
        message: 'w cannot be forked: begin another by hand',
      })
      expect(await bed.events()).toHaveLength(before)
    })

    test('[MUS-275] [MUS-171] what was begun under another version waits in sight, and can be forked', async () => {
      const made = (world: World, version: string) =>
        procedure(
          'grows',
          async (flow, given) => {
            await acting(world, flow, 'plan')
            await flow.waitSignal('go')
            return [version, given]
          },
          version,
        )
      const bed = await open((world) => [made(world, '1')])
      await bed.durable().start('grows', { id: 'w', input: 'first', at: await bed.place() })
      await until(async () => (await bed.events()).some(({ type }) => type === 'workflow.checkpoint.saved'))
      await bed.crash({ procedures: [made(bed.world, '2')] })
      expect(await bed.durable().list()).toMatchObject([{ id: 'w', version: '1', status: 'pending' }])
      expect(await ends(bed)).toEqual([])
      const input = (known: unknown) => ({ was: known })
      await bed.durable().fork('w', { as: 'v', at: await bed.place(), input })
      await bed.durable().signal('v', { topic: 'go', value: null })
      expect(await bed.durable().result('v')).toEqual(['2', { was: 'first' }])
      expect(bed.world.done).toEqual(['w:plan'])
      // It can be called off, too.
      expect(await bed.durable().cancel('w', { by: asker('me'), reason: 'old' })).toBe('delivered')
      expect(await bed.durable().list()).toMatchObject([{ id: 'w', status: 'cancelled' }, { id: 'v' }])
      expect(await bed.durable().cancel('w', { by: asker('me'), reason: 'old' })).toBe('finished')
    })

    test('[MUS-275] what was called off and could not put its things away is put away by the next, and nothing else is', async () => {
      const leaves = (world: World, version: string): Procedure<never, unknown> => ({
        ...procedure('leaves', (flow) => flow.waitSignal('go'), version),
        leftovers: {
          ids: async () => ['w', 'v', 'done', 'nobody'],
          putAway: async (id: string, input: unknown) => void world.done.push(`${id} with ${String(input)}`),
        },
      })
      const bed = await open((world) => [leaves(world, '1')])
      for (const id of ['w', 'v', 'done'])
        await bed.durable().start('leaves', { id, input: `in ${id}`, at: await bed.place() })
      await bed.durable().signal('done', { topic: 'go', value: null })
      await bed.durable().result('done')
      await bed.durable().cancel('w', { by: asker('me'), reason: 'enough' })
      await bed.crash({ procedures: [leaves(bed.world, '2')] })
      await until(() => bed.world.done.length > 0)
      await tick()
      expect(bed.world.done).toEqual(['w with in w'])
      // One that stands still does nothing by itself any more when it is called off.
      await bed.durable().cancel('v', { by: asker('me'), reason: 'enough' })
      await until(() => bed.world.done.length > 1)
      expect(bed.world.done).toEqual(['w with in w', 'v with in v'])
    })

    test('[MUS-275] an end that could not be written is told to nobody, and comes after the crash', async () => {
      const bed = await open(() => [procedure('short', async () => 'done')])
      const at = await bed.place()
      bed.failFrom(2)
      await bed.durable().start('short', { id: 'w', input: null, at })
      await expect(bed.durable().result('w')).rejects.toMatchObject({ code: 'unavailable' })
      expect(await ends(bed)).toEqual([])
      await bed.crash()
      await bed.durable().start('short', { id: 'w', input: null, at })
      expect(await bed.durable().result('w')).toBe('done')
      expect(await ends(bed)).toHaveLength(1)
    })

    test('[MUS-275] a failure that could not be written is told to nobody, and comes after the crash', async () => {
      const bed = await open(() => [
        procedure('breaks', async () => {
          throw new Error('it broke')
        }),
      ])
      const at = await bed.place()
      bed.failFrom(2)
      await bed.durable().start('breaks', { id: 'w', input: null, at })
      await expect(bed.durable().result('w')).rejects.toMatchObject({ code: 'unavailable' })
      expect(await ends(bed)).toEqual([])
      await bed.crash()
      await until(async () => (await ends(bed)).length === 1)
      expect(await ends(bed)).toMatchObject([{ type: 'workflow.failed', payload: { error: 'it broke' } }])
    })

    test('[MUS-165] what a step gave is kept apart from its fact, and is the same after a crash', async () => {
      const bed = await open((world) => [
        procedure('keeps', async (flow) => {
          const gave = await flow.step('ask', async () => {
            world.done.push('ask')
            return { words: 'only for the vault' }
          })
          await flow.waitSignal('go')
          return gave
        }),
      ])
      await bed.durable().start('keeps', { id: 'w', input: null, at: await bed.place() })
      await until(async () => (await bed.events()).some(({ type }) => type === 'workflow.checkpoint.saved'))
      const before = await bed.events()
      expect(before).toContainEqual(
        expect.objectContaining({
          type: 'workflow.checkpoint.saved',
          payload: expect.objectContaining({
            workflowId: 'w',
            step: 'ask',
            stateBytes: expect.any(Number),
            vault: expect.any(String),
          }),
        }),
      )
      expect(JSON.stringify(before)).not.toContain('only for the vault')
      await bed.crash()
      await bed.durable().signal('w', { topic: 'go', value: null })
      expect(await bed.durable().result('w')).toEqual({ words: 'only for the vault' })
      expect(bed.world.done).toEqual(['ask'])
    })

    test('[MUS-176] the thousandth step costs as many writes as the first, and nothing is read again', async () => {
      const costs: number[] = []
      const bed = await open(() => [
        procedure('long', async (flow) => {
          for (let n = 0; n < 1000; n++) {
            const before = bed.cost()
            await flow.step(`s${n}`, async () => n)
            costs.push(bed.cost() - before)
          }
          return costs.length
        }),
      ])
      await bed.durable().start('long', { id: 'w', input: null, at: await bed.place() })
      expect(await bed.durable().result('w')).toBe(1000)
      expect(costs[0]).toBeGreaterThan(0)
      expect(new Set(costs).size).toBe(1)
    })

    const ends = async (bed: DurableBed) =>
      (await bed.events()).filter(({ type }) => /^workflow\.(finalized|failed|cancelled)$/.test(type))
    const stepsOf = async (bed: DurableBed, id: string) =>
      (await bed.events()).flatMap((event) =>
        event.type === 'workflow.checkpoint.saved' && event.workflowId === id ? [event.payload.step] : [],
      )
    const saidTo = async (bed: DurableBed) =>
      (await bed.events()).filter(({ type }) => type === 'workflow.signalled').length
  })
}
