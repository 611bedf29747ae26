import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { AppError } from '../../contract/errors.ts'
import type { Clock } from '../../ports/clock.ts'
import { notInstalled } from './tmux-server.ts'

/** One control-mode client: every command goes through its pipe, and no process is started for one. */
export type ControlClient = {
  /** Runs commands one after the other in one turn of the server; answers come in the order of the calls. */
  run(commands: readonly string[], signal: AbortSignal): Promise<readonly Block[]>
  /** Settles when the client is gone, with the reason. */
  readonly closed: Promise<AppError>
  /** Detaches; a client that hangs on a stopped server is ended. */
  close(): Promise<void>
}

type ControlClientOptions = {
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

/** The process of a control-mode client, with text going in and coming out. */
type ControlProcess = {
  write(text: string): void
  /** Asks it to detach. */
  end(): void
  kill(): void
  /** Settles when it is gone, with the reason. */
  readonly ended: Promise<AppError>
}

type ControlProcessOptions = {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly text: (chunk: string) => void
}

/** The command was sent, and nobody knows whether it ran. */
export const unknownOutcome = { outcome: 'unknown' } as const

function startControlProcess(options: ControlProcessOptions): ControlProcess {
  // A process group of its own: Ctrl-C in the daemon's terminal must not reach it.
  const child = spawn(options.command, [...options.args], {
    cwd: '/',
    env: options.env,
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const { stdin, stdout, stderr } = child
  let words = ''
  stdout.setEncoding('utf8').on('data', options.text)
  stderr.setEncoding('utf8').on('data', (text: string) => {
    words = (words + text).slice(-2000)
  })
  // A write to a client that has just ended; `ended` tells of the end.
  stdin.on('error', () => {})

  const failed = Promise.withResolvers<AppError>()
  child.on('error', (cause: NodeJS.ErrnoException) => {
    const isMissing = cause.code === 'ENOENT' || cause.code === 'EACCES'
    failed.resolve(isMissing ? notInstalled(options.command) : lost(cause.message))
  })
  const exited = async (): Promise<AppError> => {
    // Not the end of its output: the server holds the other end of that, and may hang.
    const [[code, signal]] = await Promise.all([once(child, 'exit'), once(stderr, 'close')])
    return lost(words.trim() || `its client ended with ${signal ?? code}`)
  }
  const ended = Promise.race([failed.promise, exited()]).then((error) => {
    for (const stream of [stdin, stdout, stderr]) stream.destroy()
    return error
  })
  return {
    ended,
    write: (text) => stdin.write(text),
    end: () => stdin.end(),
    kill: () => child.kill('SIGKILL'),
  }
}

const lost = (why: string): AppError =>
  new AppError('unavailable', `the connection to tmux broke: ${why}`, { details: unknownOutcome })

/** What tmux answered to one command. */
export type Block = {
  readonly lines: readonly string[]
  readonly isError: boolean
}

/** Who is told what comes out of a control-mode client. */
type ControlHandler = {
  /** An answer to a command that came in through this client. */
  block(block: Block): void
  /** A line that nobody asked for, such as `%sessions-changed`. */
  notice(line: string): void
}

/** Reads the control protocol of tmux from chunks that end anywhere. */
export function controlParser(handler: ControlHandler): (chunk: string) => void {
  let rest = ''
  let open: { guard: string; lines: string[] } | undefined

  const line = (text: string): void => {
    if (open === undefined) {
      if (text.startsWith('%begin ')) open = { guard: text.slice('%begin '.length), lines: [] }
      else handler.notice(text)
      return
    }
    // Only the guard of the block's own begin ends it: a screen may show any text, `%end` too.
    const isError = text === `%error ${open.guard}`
    if (!isError && text !== `%end ${open.guard}`) {
      open.lines.push(text)
      return
    }
    const { guard, lines } = open
    open = undefined
    // The last figure is 1 for commands of this client; hooks and other clients' commands have 0.
    if (guard.endsWith(' 1')) handler.block({ lines, isError })
  }

  return (chunk) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const text of lines) line(text)
  }
}
