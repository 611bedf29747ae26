import { expect, test } from 'vitest'
import { daemon, openEngine, sessionDrafts } from '../../../test/support/temp-engine.ts'
import { tempFolder } from '../../../test/support/temp-journal.ts'
import { systemClock } from '../../adapters/system/clock.ts'
import { cursorFiles } from '../../adapters/system/durable-files.ts'
import { Config } from '../../contract/config.ts'
import type { Attempt, Notice } from '../../ports/notifier.ts'
import { ReactorRun } from '../react.ts'
import { notifyWebhook } from './notify-webhook.ts'

/** A journal with one managed session, and a webhook that answers as the test says. */
async function hooked(answers: readonly Attempt[], attempts = 4) {
  const dir = tempFolder()
  const { engine, journal } = await openEngine(dir)
  const sent: Notice[] = []
  const slept: number[] = []
  const stop = new AbortController()
  const config = Config.parse({ child_agents: { notifications: { webhook: { attempts } } } })
  const reactor = notifyWebhook({
    engine,
    config: () => config,
    clock: {
      now: () => 0,
      monotonic: () => 0,
      sleep: async (ms) => {
        slept.push(ms)
      },
    },
    notifier: {
      send: async (notice) => {
        sent.push(notice)
        const answer = answers[sent.length - 1] ?? { kind: 'taken' as const }
        if (answer.kind === 'refused' && answer.why === 'stop') {
          stop.abort()
          throw new Error('stopped')
        }
        return answer
      },
    },
  })
  const cursors = await cursorFiles(`${dir}/cursors`)
  const run = new ReactorRun(reactor, { journal, cursors, clock: systemClock })
  const session = sessionDrafts()
  const start = { ...session.started(), payload: { name: 'eng', origin: 'managed', cli: 'claude' } }
  const end = { ...session.started(), type: 'session.completed', payload: { outcome: 'completed' } }
  const propose = (...items: unknown[]) => engine.propose({ items, by: daemon })
  return { dir, journal, cursors, run, sent, slept, stop, start, end, propose, session }
}

const later = { kind: 'later', why: 'it answered 500' } as const

test('[SM-93] what is not taken is tried again with growing pauses, the same notice each time', async () => {
  const h = await hooked([later, { ...later, afterMs: 9000 }, later])
  await h.propose(h.start)
  const running = h.run.run(h.stop.signal)
  await h.journal.wait(0, h.stop.signal)
  await h.propose(h.end)
  await expect.poll(() => h.sent.length).toBe(4)
  expect(h.slept).toEqual([1000, 9000, 4000])
  expect(new Set(h.sent.map(({ id }) => id)).size).toBe(1)
  expect(h.sent[0]).toMatchObject({ event: 'completed', name: 'eng', parent_session_id: null })
  await expect.poll(() => h.cursors.load('notify-webhook')).toBe(2)
  h.stop.abort()
  await running
  expect(h.run.report().parked).toEqual([])
})

test('[SM-93] after its attempts, or at once when it is refused, a notice is parked where it is seen', async () => {
  const h = await hooked([later, later, { kind: 'refused', why: 'it answered 410' }], 2)
  await h.propose(h.start)
  const running = h.run.run(h.stop.signal)
  await h.journal.wait(0, h.stop.signal)
  await h.propose(h.end)
  await expect.poll(() => h.run.report().parked.length).toBe(1)
  expect(h.run.report().parked[0]?.error).toContain('(attempt 2): it answered 500')
  await h.propose({ ...h.session.started(), type: 'session.reopened', payload: {} }, h.end)
  await expect.poll(() => h.run.report().parked.length).toBe(2)
  expect(h.run.report().parked[1]?.error).toContain('it answered 410')
  h.stop.abort()
  await running
})

test('[SM-93] one that is stopped in the middle is sent again by the next, and what was before the first is not', async () => {
  const h = await hooked([{ kind: 'refused', why: 'stop' }])
  await h.propose(h.start, h.end, { ...h.session.started(), type: 'session.reopened', payload: {} })
  const first = h.run.run(h.stop.signal)
  await expect.poll(() => h.cursors.load('notify-webhook')).toBe(3)
  await h.propose(h.end)
  await first
  expect(h.run.report().parked).toEqual([])
  expect(await h.cursors.load('notify-webhook')).toBe(3)
  expect(h.sent.map(({ seq }) => seq)).toEqual([4])
})
