import { spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError, errorCodes } from '../contract/errors.ts'
import type { Health } from '../contract/health.ts'
import type { DaemonConnection } from './daemon-connection.ts'
import type { Io } from './io.ts'
import { daemonEnvironment } from './start-daemon.ts'

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
    throw new AppError('conflict', 'another daemon runs already; use: sm up --replace')
  throw new AppError('failed', `the daemon ended with exit ${exit}; what it said is above`)
}
