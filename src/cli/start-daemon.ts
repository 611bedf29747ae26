import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError, errorCodes } from '../contract/errors.ts'
import type { Health } from '../contract/health.ts'
import { environmentNames, homeFiles } from '../contract/home.ts'
import type { DaemonConnection, Probed } from './daemon-connection.ts'
import type { Io } from './io.ts'

const readyMs = 30_000

/** What starting needs: the home, the world, and a way to ask whether the daemon answers. */
type Start = {
  readonly home: string
  readonly io: Pick<Io, 'env' | 'program' | 'signal' | 'say'>
  readonly probe: (timeoutMs: number) => Promise<Probed>
}

/** Starts the daemon in the background and answers once it does; the loser of a race meets the winner's. */
export async function startDaemon({ home, io, probe }: Start): Promise<{ health: Health; started: boolean }> {
  const log = join(home, homeFiles.log)
  const from = sizeOf(log)
  const output = openLog(home, log)
  const child = spawn(io.program.node, io.program.daemonArgs, {
    detached: true,
    stdio: ['ignore', output, output],
    // A daemon that stood in somebody's working folder would keep its disk from being unmounted.
    cwd: home,
    env: daemonEnvironment(io.env, home),
  })
  closeSync(output)
  const ended = endOf(child)
  child.unref()
  const { health, exit } = await whenReady({ home, io, probe }, ended)
  if (health !== undefined) return { health, started: health.pid === child.pid }
  refuseFullDisk(home)
  for (const line of logTail(log, from)) io.say(line)
  if (exit === undefined)
    throw new AppError(
      'timeout',
      `the daemon did not answer within ${readyMs / 1000} s; the end of its log is above (${log})`,
    )
  throw new AppError(
    'unavailable',
    `the daemon could not start (exit ${exit}); the end of its log is above (${log})`,
  )
}

function openLog(home: string, log: string): number {
  try {
    mkdirSync(home, { recursive: true, mode: 0o700 })
    return openSync(log, 'a', 0o600)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOSPC') throw fullDisk(home)
    if (code !== undefined) throw unusableHome(home, code)
    throw error
  }
}

/** Nothing can be kept there: it is a file, or one of the system's own folders, or somebody else's. */
export const unusableHome = (home: string, code: string): AppError =>
  new AppError(
    'denied',
    `${home} cannot hold the files of Muster (${code}); set MUSTER_HOME to a folder of your own`,
  )

const leastFreeBytes = 1 << 20

/** A daemon that finds no space for its first lines has none for its log either, so it is said here. */
function refuseFullDisk(home: string): void {
  const { bavail, bsize } = statfsSync(home)
  if (bavail * bsize < leastFreeBytes) throw fullDisk(home)
}

const fullDisk = (home: string): AppError =>
  new AppError(
    'unavailable',
    `the daemon could not start: the disk of ${home} is full; free some space, then run: sm up`,
  )

/** The environment of a daemon: it serves everyone, so what identifies one session stays out. */
function daemonEnvironment(env: Io['env'], home: string): NodeJS.ProcessEnv {
  const { [environmentNames.token]: _token, [environmentNames.session]: _session, ...rest } = env
  return { ...rest, [environmentNames.home]: home }
}

type Readiness = { readonly health: Health | undefined; readonly exit: number | undefined }

async function whenReady({ io, probe }: Start, ended: Promise<number>): Promise<Readiness> {
  const deadline = Date.now() + readyMs
  let exit: number | undefined
  void ended.then((code) => {
    exit = code
  })
  let isTold = false
  for (let waitMs = 10; Date.now() < deadline; waitMs = Math.min(waitMs * 2, 200)) {
    const probed = await probe(2000)
    if (probed.state === 'running') return { health: probed.health, exit }
    // Exit 4 means that another daemon holds the journal: it is starting, and we wait for it instead.
    if (exit !== undefined && exit !== errorCodes.conflict.exit) return { health: undefined, exit }
    if (!isTold && Date.now() > deadline - readyMs + 2000) {
      io.say('the daemon is starting…')
      isTold = true
    }
    await sleep(waitMs, undefined, { signal: io.signal })
  }
  return { health: undefined, exit }
}

function endOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    child.once('exit', (code) => resolve(code ?? 1))
    child.once('error', () => resolve(errorCodes.unavailable.exit))
  })
}

/** Runs the daemon as a child of this terminal: tells its address once, then stays until it ends. */
export async function* runInForeground<T>(
  daemon: DaemonConnection,
  io: Io,
  describe: (health: Health) => T,
): AsyncGenerator<T> {
  const { home } = daemon
  mkdirSync(home, { recursive: true, mode: 0o700 })
  const child = spawn(io.program.node, io.program.daemonArgs, {
    // What the daemon logs is for the person; stdout belongs to the result.
    stdio: ['ignore', 2, 2],
    cwd: home,
    env: daemonEnvironment(io.env, home),
  })
  let exit: number | undefined
  const ended = new Promise<void>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => {
      exit = code ?? errorCodes.failed.exit
      resolve()
    })
  })
  // The terminal's own interrupt reaches the child too; a signal to us alone has to be handed on.
  io.signal.addEventListener('abort', () => child.kill('SIGTERM'))
  while (exit === undefined && !io.signal.aborted) {
    const probed = await daemon.probe()
    if (probed.state === 'running' && probed.health.pid === child.pid) {
      yield describe(probed.health)
      break
    }
    await sleep(50)
  }
  await ended
  if (io.signal.aborted || exit === 0) return
  if (exit === errorCodes.conflict.exit)
    throw new AppError('conflict', 'another daemon is already running; replace it with: sm up --replace')
  refuseFullDisk(home)
  throw new AppError('failed', `the daemon ended with exit ${exit}; its output is above`)
}

/** How much of a file there is now, so that later only what came after is shown. */
function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}

/** The last lines that were written to a log after a position. */
function logTail(file: string, from: number): string[] {
  const text = readFileSync(file).subarray(from).toString('utf8').trimEnd()
  return text === '' ? ['(it wrote nothing)'] : text.split('\n').slice(-20)
}
