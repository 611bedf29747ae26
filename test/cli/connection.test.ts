import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { daemonConnection, isProcessAlive, type Patience } from '../../src/cli/daemon-connection.ts'
import type { Io } from '../../src/cli/io.ts'
import { AppError } from '../../src/contract/errors.ts'
import { temporaryFolder } from './run-sm.ts'

const entry = join(import.meta.dirname, 'stand-in-daemon.ts')
const started = new Set<string>()
const servers: Server[] = []

afterEach(() => {
  for (const home of started) {
    for (const pid of read(home, 'starts').split('\n').filter(Boolean)) {
      try {
        process.kill(Number(pid))
      } catch {
        // It ended by itself.
      }
    }
  }
  started.clear()
  for (const server of servers.splice(0)) server.close()
})

const read = (home: string, file: string) =>
  existsSync(join(home, file)) ? readFileSync(join(home, file), 'utf8') : ''

/** For what is not about slowness: a busy machine is not slow. */
const endless: Patience = { answerMs: 120_000, slowMs: 120_000, stopMs: 120_000 }

function connect(home: string, env: Record<string, string> = {}, patience = endless) {
  started.add(home)
  const said: string[] = []
  const io: Io = {
    env: { PATH: process.env['PATH'], MUSTER_HOME: home, ...env },
    cwd: home,
    program: { node: process.execPath, entry, daemonArgs: [entry] },
    signal: new AbortController().signal,
    isTerminal: false,
    canAsk: false,
    confirm: async () => false,
    isJson: false,
    isColored: false,
    width: () => 80,
    say: (message) => said.push(message),
    progress: () => {},
    now: () => Date.now(),
    sleep: async () => {},
    daemon: async () => daemonConnection(io),
    offline: async () => {
      throw new Error('not asked for')
    },
  }
  return { connection: daemonConnection(io, patience), said }
}

const refusal = async (work: Promise<unknown>): Promise<AppError> => {
  const error: unknown = await work.catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(AppError)
  return error as AppError
}

describe('the way to the daemon', () => {
  test('[MUS-115][MUS-117] it is started when it is not running, and found when it is', async () => {
    const home = join(temporaryFolder(), 'deep', 'state')
    const { connection, said } = connect(home)
    expect(await connection.running()).toBeUndefined()
    const first = await connection.start()
    expect(first).toMatchObject({ started: true, health: { name: 'muster', home } })
    // A start that takes a while is told, and how long it takes is up to the machine; nothing else is said.
    expect(said.splice(0).filter((line) => line !== 'the daemon is starting…')).toEqual([])
    expect(await connection.start()).toEqual({ ...first, started: false })
    expect(await (await connection.client()).health({})).toEqual(first.health)
    expect(read(home, 'starts').trim().split('\n')).toHaveLength(1)
    expect(said).toEqual([])
    expect(statSync(home).mode & 0o777).toBe(0o700)
    expect(statSync(join(home, 'daemon.log')).mode & 0o777).toBe(0o600)
  })

  test('[MUS-115] ten at once get one daemon', async () => {
    const home = join(temporaryFolder(), 'state')
    const results = await Promise.all(
      Array.from({ length: 10 }, () => connect(home, { STAND_IN: 'late' }).connection.start()),
    )
    expect(new Set(results.map(({ health }) => health.pid)).size).toBe(1)
    expect(results.filter((result) => result.started)).toHaveLength(1)
  })

  test('[MUS-205] the daemon does not inherit what identifies one session, nor its folder', async () => {
    const home = join(temporaryFolder(), 'state')
    await connect(home, { MUSTER_TOKEN: 'mst_x', MUSTER_SESSION: 'ses_x', KEPT: '1' }).connection.start()
    const { cwd, env } = JSON.parse(read(home, 'environment')) as { cwd: string; env: Record<string, string> }
    expect(cwd).toBe(home)
    expect(env).toMatchObject({ KEPT: '1', MUSTER_HOME: home })
    expect(env).not.toHaveProperty('MUSTER_TOKEN')
    expect(env).not.toHaveProperty('MUSTER_SESSION')
  })

  test("[MUS-116] a daemon that cannot start is unavailable, and its log's end is shown", async () => {
    const home = join(temporaryFolder(), 'state')
    const { connection, said } = connect(home, { STAND_IN: 'broken' })
    const error = await refusal(connection.start())
    expect(error.code).toBe('unavailable')
    expect(error.message).toContain('the daemon could not start (exit 1)')
    expect(said.join('\n')).toContain('the disk is on fire')
    expect(error.message).toContain(join(home, 'daemon.log'))
  })

  test('[MUS-116] one that accepts and stays silent is slow, which is a timeout', async () => {
    const home = temporaryFolder()
    const server = createServer(() => {})
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(join(home, 'muster.sock'), resolve))
    const { connection, said } = connect(home, {}, { answerMs: 50, slowMs: 1000, stopMs: 1000 })
    expect(await connection.probe()).toEqual({ state: 'slow' })
    const error = await refusal(connection.client())
    expect(error.code).toBe('timeout')
    expect(said).toEqual(['the daemon is slow to answer; waiting up to 1 s'])
    expect(existsSync(join(home, 'starts'))).toBe(false)
  })

  test('[MUS-116] the socket of a killed daemon is no daemon', async () => {
    const home = join(temporaryFolder(), 'state')
    const { connection } = connect(home)
    const { health } = await connection.start()
    process.kill(health.pid as number, 'SIGKILL')
    await expect.poll(async () => (await connection.probe()).state).toBe('down')
    expect(existsSync(join(home, 'muster.sock'))).toBe(true)
  })

  test('[MUS-116] something else at the address is told, not taken for the daemon', async () => {
    const home = temporaryFolder()
    const server = createServer((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi'))
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(join(home, 'muster.sock'), resolve))
    expect((await refusal(connect(home).connection.client())).message).toContain('not Muster')
  })

  test('[MUS-118] stop uses the operator token, waits until it is gone, and says when none ran', async () => {
    const home = join(temporaryFolder(), 'state')
    const { connection } = connect(home)
    expect(await connection.stop()).toEqual({ stopped: false, killed: 0, suspects: [] })
    const { health } = await connection.start()
    expect(await connection.stop()).toEqual({ stopped: true, killed: 0, suspects: [] })
    expect(isProcessAlive(health.pid as number)).toBe(false)
    expect(read(home, 'authorization')).toBe('Bearer mop_test\n')
  })

  test('[MUS-116] a daemon that does not know the token is found all the same, only not which process it is', async () => {
    const home = join(temporaryFolder(), 'state')
    const { connection } = connect(home, { STAND_IN: 'stranger' })
    const { health } = await connection.start()
    expect(health).toMatchObject({ name: 'muster' })
    expect(health.pid).toBeUndefined()
  })

  test("[MUS-205] a session's own token goes before the operator's", async () => {
    const home = join(temporaryFolder(), 'state')
    const { connection } = connect(home, { MUSTER_TOKEN: 'mst_session' })
    await connection.start()
    await connection.stop()
    expect(read(home, 'authorization')).toBe('Bearer mst_session\n')
  })

  test('[MUS-115] a home too long for a socket is reached by its port', async () => {
    const home = join(temporaryFolder(), 'x'.repeat(100))
    mkdirSync(home, { recursive: true })
    const { connection } = connect(home)
    expect(await connection.start()).toMatchObject({ started: true })
    expect(existsSync(join(home, 'muster.sock'))).toBe(false)
    expect(await (await connection.client()).health({})).toMatchObject({ home })
    rmSync(join(home, 'port'))
    expect(await connection.running()).toBeUndefined()
  })
})

test('[MUS-118] a process that ended but was not collected is not alive', async () => {
  // The shell becomes a program that never waits for the child it has.
  const parent = spawn('sh', ['-c', 'sleep 0.2 & echo $!; exec sleep 60'])
  try {
    const pid = await new Promise<number>((resolve) =>
      parent.stdout.once('data', (text: Buffer) => resolve(Number(text))),
    )
    await expect.poll(() => isProcessAlive(pid)).toBe(false)
    expect(() => process.kill(pid, 0)).not.toThrow()
    expect(isProcessAlive(parent.pid ?? 0)).toBe(true)
  } finally {
    parent.kill()
  }
})
