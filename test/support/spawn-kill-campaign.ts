import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../../src/client/client.ts'
import { AppError } from '../../src/contract/errors.ts'
import { socketName } from '../../src/daemon/home.ts'
import { type DaemonProcess, startDaemonProcess } from './daemon-process.ts'
import { isClean, type Leftovers, leftovers } from './leftovers.ts'
import { seeded } from './random.ts'

export type CampaignResult = {
  readonly sessions: number
  readonly refused: number
  readonly daemonKills: number
  readonly ways: Readonly<Record<string, number>>
  readonly left: Leftovers
  /** Sessions with another number of ends than one. */
  readonly ends: readonly string[]
}

export type CampaignOptions = {
  /** An empty folder with a short path. */
  readonly folder: string
  readonly runs: number
  readonly seed: number
  readonly daemonKills: number
  readonly lanes?: number
  readonly onRun?: (n: number, way: string) => void
}

/** A machine that is busy with other things is slow, which is no fault of what is tested. */
const patienceMs = 120_000

const habits = ['forks', 'group', 'setsid', 'daemon', 'tty', 'bare'] as const
const ways = [
  'kill',
  'force',
  'exit',
  'fail',
  'crash',
  'close',
  'complete',
  'parent',
  'abort',
  'early kill',
  'quits',
] as const
type Way = (typeof ways)[number]

/**
 * Starts agents that leave processes everywhere and ends them in every way there is, while the daemon is killed now and
 * then. In the end there must be nothing of them, and exactly one end of each in the journal.
 */
export async function spawnKillCampaign(options: CampaignOptions): Promise<CampaignResult> {
  const world = await openWorld(options)
  try {
    let next = 0
    const lane = async (): Promise<void> => {
      while (next < options.runs) {
        const n = next++
        const way = world.pick(ways)
        world.count(way)
        await oneRun(world, way)
        options.onRun?.(n + 1, way)
      }
    }
    const killing = killNowAndThen(world, { every: options.runs / (options.daemonKills + 1), at: () => next })
    await Promise.all(Array.from({ length: options.lanes ?? 4 }, lane))
    world.stopKilling()
    await killing
    return await settle(world)
  } finally {
    await world.close()
  }
}

type World = Awaited<ReturnType<typeof openWorld>>

async function openWorld({ folder, seed }: CampaignOptions) {
  const home = join(folder, 'home')
  const temporary = join(folder, 'tmp')
  for (const path of [home, temporary]) mkdirSync(path, { mode: 0o700 })
  const tag = `wild-${process.pid}-${seed}`
  writeFileSync(join(home, 'config.yaml'), configOf(tag))
  const env = {
    MUSTER_CONFIG: join(home, 'config.yaml'),
    TMPDIR: temporary,
    LANG: 'C.UTF-8',
    SHELL: '/bin/bash',
  }
  const socket = socketName(home, '')
  const random = seeded(seed)
  const counts: Record<string, number> = {}
  let daemon: DaemonProcess = await startDaemonProcess(home, { env })
  let up = Promise.resolve()
  let isOver = false
  let refused = 0
  let daemonKills = 0
  const logs: string[] = []
  return {
    scene: { home, socket, temporary, tag },
    random,
    pick: <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T,
    count: (way: string) => {
      counts[way] = (counts[way] ?? 0) + 1
    },
    refuse: () => {
      refused += 1
    },
    counts,
    get client(): Client {
      return daemon.client
    },
    get refused() {
      return refused
    },
    get daemonKills() {
      return daemonKills
    },
    get isOver() {
      return isOver
    },
    log: () => [...logs, daemon.log()].join('\n'),
    stopKilling: () => {
      isOver = true
    },
    /** Answers, or nothing when the daemon died over it; the next one is up then. */
    async ask<T>(call: (client: Client) => Promise<T>): Promise<T | undefined> {
      await up
      const asked = daemon
      try {
        return await call(asked.client)
      } catch (error) {
        await up
        if (asked !== daemon || asked.process.signalCode !== null) return undefined
        throw error
      }
    },
    async killDaemon() {
      daemonKills += 1
      const back = Promise.withResolvers<void>()
      up = back.promise
      await daemon.kill('SIGKILL')
      logs.push(daemon.log())
      daemon = await startDaemonProcess(home, { env })
      back.resolve()
    },
    tmux: (...args: string[]) => spawnSync('tmux', ['-L', socket, ...args], { encoding: 'utf8' }).stdout,
    async close() {
      await up
      await daemon.kill('SIGTERM')
      spawnSync('tmux', ['-L', socket, 'kill-server'])
      for (const line of leftovers({ home, socket, temporary, tag }).processes)
        spawnSync('kill', ['-9', line.split(' ')[0] as string])
    },
  }
}

const configOf = (tag: string): string =>
  JSON.stringify({
    clis: { wild: { command: join(import.meta.dirname, 'wild-agent.sh'), args: [tag] } },
    limits: {
      max_sessions: 1000,
      max_children: 1000,
      max_descendants: 100_000,
      spawns_per_minute: 100_000,
    },
    child_agents: { cleanup: { close_tmux_session: true } },
    journal: { fsync: 'never' },
  })

async function killNowAndThen(
  world: World,
  { every, at }: { every: number; at: () => number },
): Promise<void> {
  for (let due = every; !world.isOver; ) {
    if (at() >= due) {
      due += every
      await sleep(world.random() * 200)
      await world.killDaemon()
    }
    await sleep(10)
  }
}

/** What one spawn asks for: a few habits, deaf ones among them. */
function request(world: World, way: Way, parent?: string) {
  const chosen = habits.filter(() => world.random() < 0.35)
  const isDeaf = world.random() < 0.15
  return {
    agent_type: 'wild',
    prompt: '',
    working_dir: world.scene.home,
    args: [...(isDeaf ? ['deaf'] : []), ...chosen, ...(way === 'quits' ? ['quits'] : [])],
    ...(parent !== undefined && { parent }),
  }
}

async function oneRun(world: World, way: Way): Promise<void> {
  if (way === 'abort') return aborted(world)
  if (way === 'early kill') return killedEarly(world)
  const spawned = await start(world, way)
  if (!spawned) return
  const { id, tmux_session: terminal } = spawned
  await sleep(world.random() ** 2 * 300)
  switch (way) {
    case 'kill':
    case 'force':
      return killed(world, id, way === 'force')
    case 'exit':
    case 'fail':
      world.tmux('send-keys', '-t', `=${terminal}:`, `exit ${way === 'exit' ? 0 : 3}`, 'Enter')
      return
    case 'crash': {
      const pid = Number(world.tmux('display-message', '-p', '-t', `=${terminal}:`, '#{pane_pid}'))
      if (pid > 1) spawnSync('kill', ['-9', String(pid)])
      return
    }
    case 'close':
      world.tmux('kill-session', '-t', `=${terminal}`)
      return
    case 'complete':
      await world.ask((client) => tolerant(client.completeSession({ id, message: 'done' })))
      return
    case 'parent': {
      const child = await start(world, way, id)
      if (child) await start(world, way, child.id)
      return killed(world, id, world.random() < 0.5)
    }
    case 'quits':
  }
}

async function start(world: World, way: Way, parent?: string) {
  const asked = request(world, way, parent)
  try {
    return await world.ask((client) => client.spawnSession(asked, { timeoutMs: patienceMs }))
  } catch (error) {
    // A parent may be gone by a restart meanwhile; anything else is a spawn that should have worked.
    if (!(error instanceof AppError)) throw error
    if (parent === undefined) world.refuse()
    return undefined
  }
}

/** Now and then the caller hangs up before the answer; what has begun must be finished all the same. */
const killed = async (world: World, id: string, force: boolean): Promise<void> => {
  const hangUp = world.random() < 0.2 ? AbortSignal.timeout(1 + Math.floor(world.random() * 40)) : undefined
  const options = { timeoutMs: patienceMs, ...(hangUp && { signal: hangUp }) }
  const kill = (client: Client) => tolerant(client.killSession({ id, force }, options))
  await world.ask((client) =>
    kill(client).catch((error: unknown) => {
      if (!hangUp?.aborted) throw error
    }),
  )
}

/** The caller goes away in the middle of its spawn. */
async function aborted(world: World): Promise<void> {
  const asked = request(world, 'abort')
  const stop = new AbortController()
  const wait = sleep(world.random() * 60).then(() => stop.abort())
  await world.ask((client) => client.spawnSession(asked, { signal: stop.signal }).catch(() => undefined))
  await wait
}

/** Killed as soon as it is listed, which may be before its program runs. */
async function killedEarly(world: World): Promise<void> {
  const asked = { ...request(world, 'early kill'), name: `early-${Math.floor(world.random() * 1e12)}` }
  const spawning = world.ask((client) => client.spawnSession(asked).catch(() => undefined))
  for (let i = 0; i < 100; i++) {
    const done = await world.ask((client) =>
      client.killSession({ id: `wild-${asked.name}`, force: true }).then(
        () => true,
        (error: unknown) => {
          if (error instanceof AppError && error.code === 'not_found') return false
          if (error instanceof AppError && error.code === 'conflict') return true
          throw error
        },
      ),
    )
    if (done !== false) break
    await sleep(2)
  }
  await spawning
}

/** It may have ended already, by itself or with the daemon. */
async function tolerant<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call
  } catch (error) {
    if (error instanceof AppError && ['conflict', 'not_found'].includes(error.code)) return undefined
    throw error
  }
}

const settleMs = 120_000

/** Ends what still runs, waits for quiet, and counts. */
async function settle(world: World): Promise<CampaignResult> {
  for (;;) {
    const { sessions } = await world.client.listSessions({ open: true, limit: 1000 })
    if (sessions.length === 0) break
    for (const { id } of sessions) await killed(world, id, true)
  }
  const until = performance.now() + settleMs
  let left = leftovers(world.scene)
  while (!isClean(left) && performance.now() < until) {
    await sleep(100)
    left = leftovers(world.scene)
  }
  const ends = await endsOf(world.client)
  const { counts, refused, daemonKills } = world
  if (/"msg":"bug"/.test(world.log())) throw new Error(`the daemon met a bug:\n${world.log()}`)
  return {
    sessions: ends.size,
    refused,
    daemonKills,
    ways: counts,
    left,
    ends: [...ends].filter(([, count]) => count !== 1).map(([id, count]) => `${id}: ${count} ends`),
  }
}

async function endsOf(client: Client): Promise<Map<string, number>> {
  const ends = new Map<string, number>()
  for (let after = 0; ; ) {
    const { events } = await client.listEvents({ after, limit: 1000 })
    if (events.length === 0) return ends
    for (const { type, sessionId, seq } of events) {
      after = seq
      if (type === 'session.started') ends.set(sessionId, 0)
      if (type === 'session.completed' || type === 'session.failed')
        ends.set(sessionId, (ends.get(sessionId) ?? 0) + 1)
    }
  }
}
