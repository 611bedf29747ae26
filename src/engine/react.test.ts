import { expect, test } from 'vitest'
import { openEngine, operator, sessionDrafts } from '../../test/support/temp-engine.ts'
import { tempFolder } from '../../test/support/temp-journal.ts'
import { systemClock } from '../adapters/system/clock.ts'
import { cursorFiles } from '../adapters/system/durable-files.ts'
import { type AgentEvent, eventTypes } from '../contract/event.ts'
import { ReactorRun } from './react.ts'

/** Runs a reactor until it has seen a seq, then stops it. */
async function runUntil(
  dir: string,
  deps: {
    journal: Awaited<ReturnType<typeof openEngine>>['journal']
    last: number
    react: (event: AgentEvent) => void
  },
) {
  const stop = new AbortController()
  const run = new ReactorRun(
    {
      name: 'test',
      types: new Set(eventTypes),
      react: async (event) => {
        if (event.seq >= deps.last) stop.abort()
        deps.react(event)
      },
    },
    { journal: deps.journal, cursors: await cursorFiles(dir), clock: systemClock },
  )
  await run.run(stop.signal)
  return run.report()
}

test('[MUS-84][MUS-74] a reactor parks what it cannot handle, goes on, and starts after its cursor', async () => {
  const dir = tempFolder()
  const { engine, journal } = await openEngine(dir)
  const session = sessionDrafts()
  await engine.propose({
    items: [session.started(), session.note('bad'), session.note('good')],
    by: operator,
  })
  const seen: number[] = []
  const report = await runUntil(`${dir}/cursors`, {
    journal,
    last: 3,
    react: (event) => {
      seen.push(event.seq)
      if (event.seq === 2) throw new Error('cannot')
    },
  })
  expect(seen).toEqual([1, 2, 3])
  expect(report).toEqual({ name: 'test', seq: 3, parked: [{ seq: 2, error: 'Error: cannot' }] })

  const later: number[] = []
  const running = runUntil(`${dir}/cursors`, {
    journal,
    last: 4,
    react: (event) => void later.push(event.seq),
  })
  await engine.propose({ items: [session.note('new')], by: operator })
  expect((await running).seq).toBe(4)
  expect(later).toEqual([4])
  await journal.close()
})

test('[MUS-84] where a reactor stands is saved when it did something, not for what is none of its business', async () => {
  const dir = tempFolder()
  const { engine, journal } = await openEngine(dir)
  const session = sessionDrafts()
  const saved: number[] = []
  const cursors = { load: async () => 0, save: async (_: string, seq: number) => void saved.push(seq) }
  const stop = new AbortController()
  const types = new Set(['session.started'] as const)
  const run = new ReactorRun(
    { name: 'test', types, react: async () => {} },
    { journal, cursors, clock: systemClock },
  )
  const over = run.run(stop.signal)
  const write = async (...items: Parameters<typeof engine.propose>[0]['items'][number][]) => {
    await engine.propose({ items, by: operator })
    await expect.poll(() => run.report().seq).toBe(journal.watermark())
  }
  await write(session.started())
  await write(session.note('one'))
  await write(session.note('two'))
  expect(saved).toEqual([1])
  stop.abort()
  await over
  expect(saved).toEqual([1, 3])
})

test('[MUS-283] a reactor that cannot read or save for a while says so, tries again and misses nothing', async () => {
  const dir = tempFolder()
  const { engine, journal } = await openEngine(dir)
  const session = sessionDrafts()
  const broken = { page: true, save: true }
  const stuck: string[] = []
  const seen: number[] = []
  const fail = (what: 'page' | 'save') => {
    if (!broken[what]) return
    broken[what] = false
    throw new Error(`no ${what}`)
  }
  const reading = {
    watermark: () => journal.watermark(),
    oldest: () => journal.oldest(),
    wait: (seq: number, signal: AbortSignal) => journal.wait(seq, signal),
    page: async (after: number, limit: number) => {
      fail('page')
      return journal.page(after, limit)
    },
  }
  const errors: (string | undefined)[] = []
  const stop = new AbortController()
  const run: ReactorRun = new ReactorRun(
    { name: 'test', types: new Set(eventTypes), react: async ({ seq }) => void seen.push(seq) },
    {
      journal: reading as typeof journal,
      cursors: { load: async () => 0, save: async () => fail('save') },
      clock: { sleep: async () => void errors.push(run.report().error) },
      onStuck: (error) => stuck.push(String(error)),
    },
  )
  const over = run.run(stop.signal)
  await engine.propose({ items: [session.started(), session.note('one')], by: operator })
  await expect.poll(() => run.report()).toEqual({ name: 'test', seq: 2, parked: [] })
  await engine.propose({ items: [session.note('two')], by: operator })
  await expect.poll(() => seen).toEqual([1, 2, 3])
  expect(stuck).toEqual(['Error: no page', 'Error: no save'])
  expect(errors).toEqual(['Error: no page', 'Error: no save'])
  stop.abort()
  await over
  await journal.close()
})
