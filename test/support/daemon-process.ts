import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { daemonFlags } from '../../src/cli/io.ts'
import { localFetch } from '../../src/cli/local-fetch.ts'
import { type Client, httpClient } from '../../src/client/client.ts'
import type { Request } from '../../src/client/transport.ts'
import { builtDaemon, daemonProgram } from './programs.ts'

/** A real daemon process on a home of its own, and a client with its operator's token. */
export type DaemonProcess = {
  readonly home: string
  readonly process: ChildProcess
  readonly client: Client
  readonly token: string
  readonly url: string
  readonly log: () => string
  kill(signal: NodeJS.Signals): Promise<number | null>
}

export type DaemonOptions = {
  readonly env?: Record<string, string>
  readonly uid?: number
  /** The bundle, also where a single file of tests runs. */
  readonly isBuilt?: boolean
}

const startDeadlineMs = 60_000

// A test that fails half-way must not leave its daemon behind.
const daemons = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of daemons) child.kill('SIGKILL')
})

/** Starts the daemon and waits until it says it is ready; its log is in the error when it is not. */
export async function startDaemonProcess(home: string, options: DaemonOptions = {}): Promise<DaemonProcess> {
  const child = spawnDaemon(home, options)
  let log = ''
  const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)))
  const ready = new Promise<string>((resolve) => {
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      log += text
      const url = /"url":"(http:[^"]+)"[^\n]*"msg":"ready"/.exec(log)?.[1]
      if (url) resolve(url)
    })
  })
  const failed = Promise.race([
    ended.then((code) => `ended with ${code}`),
    sleep(startDeadlineMs, 'did not start in time', { ref: false }),
  ]).then((why) => {
    throw new Error(`the daemon ${why}\n${log}`)
  })
  failed.catch(() => {})
  const url = await Promise.race([ready, failed])
  const token = readFileSync(join(home, 'operator.token'), 'utf8').trim()
  return {
    home,
    process: child,
    url,
    token,
    log: () => log,
    client: clientFor(url, token),
    async kill(signal) {
      child.kill(signal)
      return ended
    },
  }
}

/** What makes a program from its sources start quickly: each file is compiled once for all tests. */
export const compiledOnce = (): Record<string, string> => {
  const folder = process.env['NODE_COMPILE_CACHE']
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: folder }
}

export function spawnDaemon(home: string, options: DaemonOptions = {}): ChildProcess {
  const env: Record<string, string> = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    MUSTER_HOME: home,
    NODE_NO_WARNINGS: '1',
    ...compiledOnce(),
    ...options.env,
  }
  const child = spawn(process.execPath, [...daemonFlags, options.isBuilt ? builtDaemon : daemonProgram], {
    env,
    cwd: home,
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(options.uid !== undefined && { uid: options.uid, gid: options.uid }),
  })
  daemons.add(child)
  child.once('exit', () => daemons.delete(child))
  return child
}

/** A daemon answers before its index is there for the first time, and on a busy machine some time before. */
function onceIndexed(request: Request): Request {
  return async (url, sent) => {
    for (;;) {
      const answer = await request(url, sent)
      if (answer.status !== 503) return answer
      const text = await answer.text()
      if (!isIndexing(text)) return { ...answer, text: async () => text }
      await sleep(20, undefined, { signal: sent.signal })
    }
  }
}

/** Whether a refusal only means that the index is not there yet. */
export const isIndexing = (refusal: string): boolean => refusal.includes('the index is not built yet')

export function clientFor(url: string, token: string | undefined): Client {
  return httpClient({
    base: url,
    request: onceIndexed(localFetch({ port: Number(new URL(url).port) })),
    sleep: (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal }),
    ...(token !== undefined && { token }),
  } as Parameters<typeof httpClient>[0])
}
