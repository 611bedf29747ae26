import { setImmediate as turn } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { manualClock } from '../../../test/http/manual-clock.ts'
import { ago, approvalView, sessionView } from '../../../test/support/watch-views.ts'
import type { Client } from '../../client/client.ts'
import { AppError } from '../../contract/errors.ts'
import type { SessionView } from '../../contract/session-views.ts'
import { Feed, type Loaded } from './feed.ts'

/** A daemon that answers from lists, and a feed that follows it in a time that is moved by hand. */
function followed(sessions: SessionView[]) {
  const clock = manualClock()
  const stop = new AbortController()
  const daemon = {
    sessions,
    isDown: false,
    loads: [] as number[],
    asked: [] as string[],
  }
  const loaded: Loaded[] = []
  const told: string[] = []
  const down = () => new AppError('unavailable', 'the daemon is not running; start it with `sm up`')
  let send: (type: string, sessionId?: string) => void = () => {}
  let cut: (error: unknown) => void = () => {}
  const isOpen = ({ completed_at }: SessionView) => completed_at === null
  const client: Partial<Client> = {
    health: async () => {
      if (daemon.isDown) throw down()
      return { seq: 7 } as never
    },
    listSessions: async ({ open }) => {
      if (daemon.isDown) throw down()
      if (open === true) daemon.loads.push(clock.monotonic())
      return { sessions: daemon.sessions.filter((one) => isOpen(one) === open), next: null, hidden: 0 }
    },
    listApprovals: async () => ({
      approvals: daemon.sessions
        .filter(({ pending_approvals }) => pending_approvals > 0)
        .map((one) => approvalView(one)),
    }),
    getSession: async ({ id }) => {
      daemon.asked.push(id)
      return daemon.sessions.find((one) => one.id === id) as never
    },
    streamEvents: async function* (_input, { signal }) {
      const waiting: { type: string; sessionId: string }[] = []
      let wake = Promise.withResolvers<void>()
      send = (type, sessionId = '') => {
        waiting.push({ type, sessionId })
        wake.resolve()
      }
      cut = (error) => wake.reject(error)
      signal.addEventListener('abort', () => wake.reject(signal.reason))
      while (true) {
        await wake.promise
        wake = Promise.withResolvers()
        for (const data of waiting.splice(0)) yield { id: '', event: 'message', data }
      }
    },
  }
  const feed = new Feed({
    client: client as Client,
    signal: stop.signal,
    now: () => clock.now(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
    loaded: (one) => loaded.push(one),
    offline: ({ message }) => told.push(message),
  })
  const running = feed.run()
  onTestFinished(async () => {
    stop.abort()
    await running
  })
  return {
    daemon,
    loaded,
    told,
    feed,
    send: (type: string, sessionId?: string) => send(type, sessionId),
    cut: () => cut(down()),
    /** Lets time pass in small steps, so that everybody who wakes up can go on. */
    pass: async (ms: number) => {
      for (let i = 0; i < 8; i++) await turn()
      for (let left = ms; left > 0; left -= 10) {
        clock.advance(Math.min(10, left))
        for (let i = 0; i < 8; i++) await turn()
      }
    },
    names: () => loaded.at(-1)?.sessions.map(({ friendly_name, status }) => `${friendly_name} ${status}`),
  }
}

test('it loads once, and without news hardly ever again', async () => {
  const { daemon, pass } = followed([sessionView(1)])
  await pass(25_000)
  expect(daemon.loads).toEqual([0])
  await pass(10_000)
  expect(daemon.loads).toHaveLength(2)
})

test('many events at once are one load, and one more when all has settled', async () => {
  const { daemon, pass, send } = followed([sessionView(1)])
  await pass(1000)
  for (let i = 0; i < 50; i++) send('session.state.changed')
  await pass(5000)
  expect(daemon.loads).toHaveLength(3)
  expect((daemon.loads[1] ?? 0) - 1000).toBeLessThanOrEqual(100)
})

test('a storm of events loads at most ten times a second; figures alone once a second', async () => {
  const storm = followed([sessionView(1)])
  await storm.pass(100)
  for (let i = 0; i < 200; i++) {
    storm.send('session.state.changed')
    await storm.pass(10)
  }
  expect(storm.daemon.loads.length).toBeGreaterThan(10)
  expect(storm.daemon.loads.length).toBeLessThanOrEqual(22)
  const figures = followed([sessionView(1)])
  await figures.pass(100)
  for (let i = 0; i < 200; i++) {
    figures.send('tool.call.completed')
    await figures.pass(10)
  }
  expect(figures.daemon.loads.length).toBeLessThanOrEqual(6)
})

test('one that ended is asked for once more and stays in the list, also when it is killed later', async () => {
  const { daemon, pass, send, names } = followed([sessionView(1), sessionView(2)])
  await pass(100)
  const ended = (more: Partial<SessionView>) => {
    daemon.sessions = [sessionView(1), sessionView(2, { status: 'completed', completed_at: ago(1), ...more })]
  }
  ended({})
  send('agent.completed')
  await pass(1000)
  expect(names()).toEqual(['engineer-1 running', 'engineer-2 completed'])
  ended({ status: 'killed', is_alive: false })
  const [, second] = daemon.sessions
  send('agent.killed', second?.id)
  await pass(1000)
  expect(names()).toEqual(['engineer-1 running', 'engineer-2 killed'])
  daemon.sessions = [sessionView(1), sessionView(2)]
  send('session.reopened')
  await pass(1000)
  expect(names()).toEqual(['engineer-1 running', 'engineer-2 running'])
})

test('at the start it has what ended lately or still runs, and nothing of what was imported', async () => {
  const over = { status: 'completed', is_alive: false } as const
  const now = (ms: number) => new Date(1_700_000_000_000 - ms).toISOString()
  const { pass, names } = followed([
    sessionView(1, { ...over, completed_at: now(60_000) }),
    sessionView(2, { ...over, completed_at: now(3 * 86_400_000) }),
    sessionView(3, { ...over, completed_at: now(3 * 86_400_000), is_alive: true }),
    sessionView(4, { ...over, completed_at: now(60_000), origin: 'imported' }),
    sessionView(5, { status: 'error', is_alive: false, completed_at: now(60_000), origin: 'workflow' }),
  ])
  await pass(100)
  expect(names()).toEqual(['engineer-1 completed', 'engineer-3 completed', 'engineer-5 error'])
})

test('approvals are asked for only when somebody waits for one', async () => {
  const { daemon, loaded, pass, send } = followed([sessionView(1)])
  await pass(100)
  expect(loaded.at(-1)?.approvals).toEqual([])
  daemon.sessions = [sessionView(1, { pending_approvals: 1 })]
  send('approval.requested')
  await pass(500)
  expect(loaded.at(-1)?.approvals).toHaveLength(1)
})

test('a lost daemon is told, and found again without a word from anybody', async () => {
  const { daemon, loaded, told, pass, cut } = followed([sessionView(1)])
  await pass(100)
  expect(loaded).toHaveLength(1)
  daemon.isDown = true
  cut()
  await pass(5000)
  expect(told[0]).toBe('the daemon is not running; start it with `sm up`')
  daemon.isDown = false
  await pass(3000)
  expect(loaded.length).toBeGreaterThan(1)
})

test('a connection that is lost once and comes back is not worth a word', async () => {
  const { loaded, told, pass, cut } = followed([sessionView(1)])
  await pass(100)
  cut()
  await pass(1000)
  expect(told).toEqual([])
  expect(loaded).toHaveLength(2)
})
