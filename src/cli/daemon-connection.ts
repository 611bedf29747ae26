import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, httpClient } from '../client/client.ts'
import { notMuster, type Transport } from '../client/transport.ts'
import { AppError } from '../contract/errors.ts'
import type { Health } from '../contract/health.ts'
import { environmentNames, homeFiles, sessionFiles, socketPath } from '../contract/home.ts'
import type { SessionId } from '../contract/ids.ts'
import type { SuspectView } from '../contract/session-views.ts'
import { shortId } from '../contract/short-id.ts'
import type { Io } from './io.ts'
import { type Address, localFetch } from './local-fetch.ts'

/** How long `sm` waits: before it says that the daemon is slow, before it gives up, and for a stop. */
export type Patience = { readonly answerMs: number; readonly slowMs: number; readonly stopMs: number }

/** Ending a session takes its grace period, and there may be many. */
const endingMs = 120_000

const usualPatience: Patience = { answerMs: 2000, slowMs: 15_000, stopMs: 20_000 }

/** The way from `sm` to the daemon of one home. */
export type DaemonConnection = {
  readonly home: string
  /** Whether it answers, within a moment. */
  probe(): Promise<Probed>
  /** The client of a running daemon; nothing when none runs, and none is started. */
  running(): Promise<Client | undefined>
  /** The client of the daemon, which is started when none runs. */
  client(): Promise<Client>
  /** Makes sure that it runs. */
  start(): Promise<{ health: Health; started: boolean }>
  /** Asks it to stop, with its sessions if they are to end too, and waits until it is gone. */
  stop(what?: {
    readonly sessions?: boolean
  }): Promise<{ stopped: boolean; killed: number; suspects: SuspectView[] }>
}

export function daemonConnection(io: Io, patience = usualPatience): DaemonConnection {
  const home = stateFolder(io.env, homedir())
  const isIsolated = io.env[environmentNames.isolation] !== undefined
  const probe = async (timeoutMs: number): Promise<Probed> => {
    const address = addressOf(home, isIsolated)
    if (address === undefined) return { state: 'down' }
    return probeDaemon(transportTo(address, tokenOf(io.env, home)), timeoutMs, io.signal)
  }
  const find = () => findHealth(probe, { io, patience })
  const client = (): Client => {
    const address = addressOf(home, isIsolated)
    if (address === undefined) throw new AppError('unavailable', 'the daemon is gone; start it with: sm up')
    return httpClient(transportTo(address, tokenOf(io.env, home)))
  }
  const start = async () => {
    const health = await find()
    if (health === undefined && isIsolated)
      throw new AppError(
        'unavailable',
        'the daemon does not answer; a session cannot start it, ask a person to run sm up',
      )
    if (health !== undefined) return { health, started: false }
    const { startDaemon } = await import('./start-daemon.ts')
    return startDaemon({ home, io, probe })
  }
  return {
    home,
    probe: () => probe(patience.answerMs),
    running: async () => ((await find()) === undefined ? undefined : client()),
    client: async () => {
      await start()
      return client()
    },
    start,
    stop: async (what = {}) => {
      const health = await find()
      if (health === undefined) return { stopped: false, killed: 0, suspects: [] }
      const { killed, suspects = [] } = await client().shutdown(what, {
        signal: io.signal,
        timeoutMs: endingMs,
      })
      await untilGone(health, probe, { io, patience })
      return { stopped: true, killed, suspects }
    },
  }
}

type Probe = (timeoutMs: number) => Promise<Probed>

type Waiting = { readonly io: Io; readonly patience: Patience }

/** Tells slow from down: what accepts a connection and stays silent runs, and deserves patience. */
async function findHealth(probe: Probe, { io, patience }: Waiting): Promise<Health | undefined> {
  const { answerMs, slowMs } = patience
  let probed = await probe(answerMs)
  if (probed.state === 'slow') {
    io.say(`the daemon is slow to answer; waiting up to ${slowMs / 1000} s`)
    probed = await probe(slowMs - answerMs)
  }
  if (probed.state === 'slow') {
    throw new AppError(
      'timeout',
      `the daemon is running but did not answer in ${slowMs / 1000} s; try again, or see: sm doctor`,
    )
  }
  return probed.state === 'running' ? probed.health : undefined
}

// The lock is free only when the process is gone; a daemon that merely stopped listening still holds it.
async function untilGone({ pid }: Health, probe: Probe, { io, patience }: Waiting): Promise<void> {
  const deadline = Date.now() + patience.stopMs
  while ((pid !== undefined && isProcessAlive(pid)) || (await probe(patience.answerMs)).state !== 'down') {
    if (Date.now() > deadline) {
      throw new AppError(
        'timeout',
        `the daemon (pid ${pid}) is still stopping after ${patience.stopMs / 1000} s; see its log`,
      )
    }
    await sleep(30, undefined, { signal: io.signal })
  }
}

/** An isolated session has no socket: it would be another one after each start of the daemon. */
function addressOf(home: string, isIsolated: boolean): Address | undefined {
  const path = isIsolated ? undefined : socketPath(home)
  if (path !== undefined) return { socketPath: path }
  const port = Number(readIfThere(join(home, homeFiles.port)))
  return port > 0 ? { port } : undefined
}

// Inside a session only that session's own capability counts: an agent's `sm` never acts as the operator.
function tokenOf(env: Io['env'], home: string): string | undefined {
  const session = env[environmentNames.session]
  const given = env[environmentNames.token]
  if (given || session === undefined)
    return given || readIfThere(join(home, homeFiles.operatorToken)) || undefined
  const folder = join(home, sessionFiles.folder, shortId(session as SessionId))
  return readIfThere(join(folder, sessionFiles.token)) || undefined
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // Hidden from an isolated session; without it only reads are allowed, and the daemon says so.
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EACCES') return ''
    throw error
  }
}

/** What stands behind an address: a daemon that answers, one that does not answer in time, or nothing. */
export type Probed =
  | { readonly state: 'running'; readonly health: Health }
  | { readonly state: 'slow' | 'down' }

/** How to reach an address; the client has no time of its own. */
export function transportTo(address: Address, token?: string): Transport {
  return {
    // The socket has no host name; on loopback the daemon checks it.
    base: 'port' in address ? `http://127.0.0.1:${address.port}` : 'http://localhost',
    request: localFetch(address),
    sleep: (ms, signal) => sleep(ms, undefined, { signal }),
    ...(token === undefined ? {} : { token }),
  }
}

/** Asks for the daemon's health; a token that is not known any more would hide that the daemon is well. */
export async function probeDaemon(
  transport: Transport,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Probed> {
  try {
    const health = await httpClient(transport).health({}, { signal, timeoutMs })
    if (health.name !== 'muster') throw notMuster(200)
    return { state: 'running', health }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const { token, ...anonymous } = transport
    if (error.code === 'unauthenticated' && token !== undefined)
      return probeDaemon(anonymous, timeoutMs, signal)
    if (error.code === 'timeout') return { state: 'slow' }
    if (isAbsent(error.cause)) return { state: 'down' }
    throw error
  }
}

// A socket file without a listener is what a killed daemon leaves; a reset is one that is just ending.
function isAbsent(cause: unknown): boolean {
  const { code } = (cause ?? {}) as NodeJS.ErrnoException
  return ['ENOENT', 'ENOTDIR', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE'].includes(code ?? '')
}

/** Whether a process still runs; one that ended and was not yet collected by its parent does not. */
export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
  return !isZombie(pid)
}

// In a container, the first process may take seconds to collect what was left to it.
function isZombie(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // There is no such file where there is no /proc; one that vanished meanwhile is found gone the next time.
    if (code === 'ENOENT' || code === 'ESRCH') return false
    throw error
  }
}

/** Finds the state folder: `MUSTER_HOME`, else the place that the XDG rules give. */
export function stateFolder(env: Readonly<Record<string, string | undefined>>, userHome: string): string {
  const named = env[environmentNames.home]
  if (named) {
    // A relative one would be a different daemon in every working folder.
    if (!isAbsolute(named))
      throw new AppError('invalid', `MUSTER_HOME is ${named}; set it to an absolute path`)
    return named
  }
  const xdg = env['XDG_STATE_HOME']
  return join(xdg && isAbsolute(xdg) ? xdg : join(userHome, '.local', 'state'), 'muster')
}
