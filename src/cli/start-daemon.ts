import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError, errorCodes } from '../contract/errors.ts'
import type { Health } from '../contract/health.ts'
import { environmentNames, homeFiles } from '../contract/home.ts'
import type { Io } from './io.ts'
import { logTail, sizeOf } from './log-tail.ts'
import type { Probed } from './probe-daemon.ts'

const readyMs = 30_000

/** What starting needs: the home, the world, and a way to ask whether the daemon answers. */
export type Start = {
  readonly home: string
  readonly io: Pick<Io, 'env' | 'program' | 'signal' | 'say'>
  readonly probe: (timeoutMs: number) => Promise<Probed>
}

/** Starts the daemon in the background and answers once it does; the loser of a race meets the winner's. */
export async function startDaemon({ home, io, probe }: Start): Promise<{ health: Health; started: boolean }> {
  mkdirSync(home, { recursive: true, mode: 0o700 })
  const log = join(home, homeFiles.log)
  const from = sizeOf(log)
  const output = openSync(log, 'a', 0o600)
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
  const said = logTail(log, from)
  if (exit === undefined) {
    throw new AppError(
      'timeout',
      `the daemon did not answer within ${readyMs / 1000} s; its log (${log}) ends:\n${said}`,
    )
  }
  throw new AppError(
    'unavailable',
    `the daemon could not start (exit ${exit}); its log (${log}) ends:\n${said}`,
  )
}

/** The environment of a daemon: it serves everyone, so what identifies one session stays out. */
export function daemonEnvironment(env: Io['env'], home: string): NodeJS.ProcessEnv {
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
