import { randomUUID } from 'node:crypto'
import { AppError } from '../../contract/errors.ts'
import type { Clock } from '../../ports/clock.ts'
import { type Block, controlParser } from './control-parser.ts'
import { startControlProcess, unknownOutcome } from './control-process.ts'

/** One control-mode client: every command goes through its pipe, and no process is started for one. */
export type ControlClient = {
  /** Runs commands one after the other in one turn of the server; answers come in the order of the calls. */
  run(commands: readonly string[], signal: AbortSignal): Promise<readonly Block[]>
  /** Settles when the client is gone, with the reason. */
  readonly closed: Promise<AppError>
  /** Detaches; a client that hangs on a stopped server is ended. */
  close(): Promise<void>
}

export type ControlClientOptions = {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly clock: Clock
  readonly notice: (line: string) => void
}

const answerWithinMs = 10_000
const closeWithinMs = 1_000
const maxWaiting = 10_000

type Waiting = {
  readonly end: string
  readonly blocks: Block[]
  readonly sentAtMs: number
  readonly settle: PromiseWithResolvers<readonly Block[]>
}

export function startControlClient(options: ControlClientOptions): ControlClient {
  const { clock } = options
  const nonce = randomUUID()
  const waiting: Waiting[] = []
  const stop = new AbortController()
  let count = 0
  let isWatching = false

  const parse = controlParser({
    notice: options.notice,
    block: (block) => {
      const head = waiting[0]
      if (head === undefined) return
      // An error drops the rest of its line, and `if-shell` adds blocks: only the end mark tells where an answer ends.
      if (block.lines.length !== 1 || block.lines[0] !== head.end) head.blocks.push(block)
      else waiting.shift()?.settle.resolve(head.blocks)
    },
  })
  const client = startControlProcess({ ...options, text: parse })

  const fail = (error: AppError): void => {
    for (const { settle } of waiting.splice(0)) settle.reject(error)
  }
  const closed = client.ended.then((error) => {
    stop.abort()
    // Later, so that those who wait for the end can act on it before anyone tries again.
    setImmediate(() => fail(error))
    return error
  })

  // All wait equally long, so that the first is always the first to be late.
  const watch = async (): Promise<void> => {
    for (let head = waiting[0]; head !== undefined; head = waiting[0]) {
      const lateInMs = head.sentAtMs + answerWithinMs - clock.monotonic()
      if (lateInMs <= 0) {
        fail(
          new AppError('timeout', 'tmux does not answer; is its server stopped?', {
            details: unknownOutcome,
          }),
        )
        stop.abort()
        client.kill()
        return
      }
      await clock.sleep(lateInMs, stop.signal)
    }
  }

  return {
    closed,
    async close() {
      client.end()
      const grace = clock.sleep(closeWithinMs, stop.signal).then(() => client.kill())
      grace.catch(ignoreStop(stop.signal))
      await closed
    },
    async run(commands, signal) {
      signal.throwIfAborted()
      if (stop.signal.aborted)
        throw new AppError('unavailable', 'tmux is not connected', { details: notSent })
      if (waiting.length >= maxWaiting) throw new AppError('limited', 'tmux is too busy; try again later')
      const end = `${nonce} ${++count}`
      const settle = Promise.withResolvers<readonly Block[]>()
      waiting.push({ end, blocks: [], sentAtMs: clock.monotonic(), settle })
      client.write(`${commands.join(' ; ')}\ndisplay-message -p '${end}'\n`)
      if (!isWatching) {
        isWatching = true
        watch()
          .catch(ignoreStop(stop.signal))
          .finally(() => {
            isWatching = false
          })
      }
      const abort = (): void => settle.reject(signal.reason)
      signal.addEventListener('abort', abort, { once: true })
      try {
        return await settle.promise
      } finally {
        signal.removeEventListener('abort', abort)
      }
    },
  }
}

/** It never left. */
const notSent = { outcome: 'not_sent' } as const

export const isUnknownOutcome = (error: unknown): boolean =>
  error instanceof AppError && error.details === unknownOutcome

export const isNotSent = (error: unknown): boolean => error instanceof AppError && error.details === notSent

const ignoreStop =
  (signal: AbortSignal) =>
  (error: unknown): void => {
    if (!signal.aborted) throw error
  }
