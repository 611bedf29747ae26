import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { AppError } from '../../contract/errors.ts'
import { notInstalled } from './installed.ts'

/** The process of a control-mode client, with text going in and coming out. */
export type ControlProcess = {
  write(text: string): void
  /** Asks it to detach. */
  end(): void
  kill(): void
  /** Settles when it is gone, with the reason. */
  readonly ended: Promise<AppError>
}

export type ControlProcessOptions = {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly text: (chunk: string) => void
}

/** The command was sent, and nobody knows whether it ran. */
export const unknownOutcome = { outcome: 'unknown' } as const

export function startControlProcess(options: ControlProcessOptions): ControlProcess {
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
