import { readlink } from 'node:fs/promises'
import { AppError } from '../../contract/errors.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Processes } from '../../ports/processes.ts'

/** What is needed to tell a git that works from one that was killed. */
export type Machine = {
  readonly processes: Pick<Processes, 'list'>
  readonly clock: Pick<Clock, 'monotonic' | 'sleep'>
}

const mostMs = 60_000
const betweenMs = 100

/** Waits until no git works in a folder: one that we started may outlive the daemon that did. */
export async function waitForGit(
  path: string,
  { processes, clock }: Machine,
  signal: AbortSignal,
): Promise<void> {
  const until = clock.monotonic() + mostMs
  for (;;) {
    const pid = await gitIn(path, await processes.list(signal))
    if (pid === undefined) return
    if (clock.monotonic() >= until)
      throw new AppError('timeout', `git (pid ${pid}) works in ${path} for too long; end it and try again`)
    await clock.sleep(betweenMs, signal)
  }
}

async function gitIn(path: string, all: Awaited<ReturnType<Processes['list']>>): Promise<number | undefined> {
  for (const { pid, command } of all) {
    if (!/^(\S*\/)?git(-\S+)?( |$)/.test(command)) continue
    const folder = await readlink(`/proc/${pid}/cwd`).catch(() => '')
    if (`${command} `.includes(` ${path} `) || `${folder}/`.startsWith(`${path}/`)) return pid
  }
  return undefined
}
