import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../../../src/client/client.ts'
import { AppError } from '../../../src/contract/errors.ts'
import { type DaemonProcess, startDaemonProcess } from '../daemon-process.ts'

/** A daemon that is killed and started again while others use it. */
export async function campaignDaemon(home: string, env: Record<string, string>) {
  let daemon: DaemonProcess = await startDaemonProcess(home, { env })
  let starting: Promise<void> = Promise.resolve()
  const log: string[] = []
  return {
    /** Asks until there is an answer; what changes something says itself how to find out whether it did. */
    async ask<T>(
      question: (client: Client) => Promise<T>,
      recheck?: () => Promise<T | undefined>,
    ): Promise<T> {
      for (;;) {
        await starting
        try {
          return await question(daemon.client)
        } catch (error) {
          if (!isGone(error)) throw error
          await sleep(20)
          const known = recheck && (await recheck())
          if (known !== undefined) return known
        }
      }
    },
    async restart(downMs: number): Promise<void> {
      const next = Promise.withResolvers<void>()
      starting = next.promise
      await daemon.kill('SIGKILL')
      log.push(daemon.log())
      await sleep(downMs)
      daemon = await startDaemonProcess(home, { env })
      next.resolve()
    },
    url: () => daemon.url,
    /** Everything that the daemons said. */
    log: () => [...log, daemon.log()].join(''),
    stop: async () => void (await daemon.kill('SIGTERM')),
  }
}

const isGone = (error: unknown): boolean =>
  error instanceof AppError && ['unavailable', 'timeout'].includes(error.code)

/** Waits until the journal says that a paste is about to be made: the moment that is worst to die in. */
export async function pasteBegins(home: string, signal: AbortSignal, withinMs: number): Promise<boolean> {
  const folder = join(home, 'journal', 'segments')
  const last = (): string => join(folder, readdirSync(folder).sort().at(-1) ?? '')
  let path = last()
  let from = statSync(path).size
  const until = performance.now() + withinMs
  while (performance.now() < until && !signal.aborted) {
    await sleep(3)
    if (last() !== path) [path, from] = [last(), 0]
    const size = statSync(path).size
    if (size === from) continue
    const bytes = Buffer.alloc(size - from)
    const file = openSync(path, 'r')
    readSync(file, bytes, 0, bytes.length, from)
    closeSync(file)
    from = size
    if (bytes.includes('"stage":"pasted"')) return true
  }
  return false
}
