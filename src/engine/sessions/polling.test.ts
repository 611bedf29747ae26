import { setImmediate as turn } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { manualClock } from '../../../test/http/manual-clock.ts'
import { Config } from '../../contract/config.ts'
import type { SessionId } from '../../contract/ids.ts'
import { Polling } from './polling.ts'
import type { SessionWatch } from './session-watch.ts'

/** Two sessions that are polled by a clock the test moves; every step of a look can be made to throw. */
function polled() {
  const clock = manualClock()
  const bugs: string[] = []
  const broken = { config: false, look: new Set<string>(), tick: new Set<string>() }
  const seen: string[] = []
  const spent = new Set<string>()
  const interrupts: { readonly id: string; readonly end: () => void }[] = []
  const live = new Map(
    ['ses_a', 'ses_b'].map((id) => {
      const state = () => ({
        sessionId: id,
        lifecycle: 'running',
        open: new Map(),
        managed: { isSpent: spent.has(id) },
      })
      const watch = { id, state, verdict: { lifecycle: 'running', activity: 'thinking' } }
      return [
        id as SessionId,
        {
          watch: watch as unknown as SessionWatch,
          transcript: { refresh: () => {}, settled: async () => {} },
        },
      ]
    }),
  )
  const failing = (names: Set<string>, id: string) => {
    if (names.has(id)) throw new Error(`cannot: ${id}`)
  }
  const polling = new Polling({
    parts: {
      clock,
      config: () => {
        if (broken.config) throw new Error('no settings')
        return Config.parse({})
      },
      onBug: (error, where) => bugs.push(`${where}: ${String(error)}`),
      engine: { session: () => undefined, sessions: () => [][Symbol.iterator]() },
    },
    live,
    lifecycle: {
      async tick({ watch }) {
        failing(broken.tick, watch.id)
        seen.push(`tick ${watch.id}`)
      },
    },
    async look(watch) {
      failing(broken.look, watch.id)
      seen.push(`look ${watch.id}`)
    },
    interrupt: ({ watch }) =>
      new Promise<void>((resolve) => {
        interrupts.push({ id: watch.id, end: resolve })
      }),
    undoTraps: async () => {},
    remember: async () => {},
  })
  const stop = new AbortController()
  const over = polling.run(stop.signal)
  onTestFinished(async () => {
    stop.abort()
    await over
  })
  const round = async () => {
    seen.length = 0
    clock.advance(2000)
    while (clock.sleepers() === 0) await turn()
    return [...seen]
  }
  return { polling, round, broken, bugs, live, spent, interrupts }
}

const all = ['look ses_a', 'tick ses_a', 'look ses_b', 'tick ses_b']

test('[MUS-283] a fault in one session ends the polling of none; it is logged once and shown until it is over', async () => {
  const { polling, round, broken, bugs } = polled()
  expect(await round()).toEqual(all)
  broken.look.add('ses_a')
  broken.tick.add('ses_a')
  for (let i = 0; i < 3; i++) expect(await round()).toEqual(['look ses_b', 'tick ses_b'])
  expect(bugs).toEqual([
    'looking at the terminal of ses_a: Error: cannot: ses_a',
    'noticing that it is idle or done of ses_a: Error: cannot: ses_a',
  ])
  expect(polling.faults().map(({ sessionId, step }) => [sessionId, step])).toEqual([
    ['ses_a', 'looking at the terminal'],
    ['ses_a', 'noticing that it is idle or done'],
  ])
  broken.look.clear()
  expect(await round()).toEqual(['look ses_a', 'look ses_b', 'tick ses_b'])
  broken.tick.clear()
  expect(await round()).toEqual(all)
  expect(polling.faults()).toEqual([])
})

test('[MUS-283] a fault outside of any session passes too, and one that is not followed any more is not shown', async () => {
  const { polling, round, broken, live } = polled()
  broken.config = true
  expect(await round()).toEqual(all)
  expect(polling.faults()).toHaveLength(2)
  broken.config = false
  broken.look.add('ses_a')
  await round()
  expect(polling.faults()).toHaveLength(1)
  live.delete('ses_a' as SessionId)
  expect(await round()).toEqual(['look ses_b', 'tick ses_b'])
  expect(polling.faults()).toEqual([])
})

test('[MUS-349] an interrupt for a used-up budget keeps no other session waiting, and there is one at a time', async () => {
  const { round, spent, interrupts } = polled()
  spent.add('ses_a')
  for (let i = 0; i < 3; i++) expect(await round()).toEqual(all)
  expect(interrupts.map(({ id }) => id)).toEqual(['ses_a'])
  // Nothing proved that it stopped, and it works on.
  interrupts[0]?.end()
  await turn()
  await round()
  expect(interrupts).toHaveLength(2)
})
