import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../../contract/errors.ts'
import { environmentNames } from '../../contract/home.ts'
import type { Processes } from '../../ports/processes.ts'
import { boundedOutput } from '../system/define-tool.ts'

type Running = {
  readonly argv: readonly string[]
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
  readonly timeoutMs: number
  readonly signal: AbortSignal
  readonly onOutput: (text: string) => void
  readonly processes: Processes
}

/** How a command ended, and what it said. */
export type Ran = {
  readonly why: 'ended' | 'timeout' | 'cancelled'
  /** As a shell tells it: 128 and the signal for what was ended by one. */
  readonly exitCode: number
  readonly text: string
  readonly isTruncated: boolean
  /** Processes that even force did not end. */
  readonly left: readonly number[]
}

const mostChars = 30_000
/** Enough for a process to clean up, and little enough for whoever cancels to be answered at once. */
const graceMs = 300
/** A pipe can be held open by a process that is not ours to end. */
const closeMs = 1000
const markName = environmentNames.call
const never = new AbortController().signal

/** Runs a command and everything it starts, and ends all of it: nothing outlives the call. */
export async function runShell(running: Running): Promise<Ran> {
  const { argv, folder, env, signal, processes } = running
  const mark = { name: markName, value: randomUUID() }
  const [command = '', ...args] = argv
  const child = spawn(command, args, {
    cwd: folder,
    env: { ...env, [mark.name]: mark.value },
    // A group and a session of its own: it has no terminal, and signals for the daemon pass it by.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = boundedOutput(mostChars)
  for (const stream of [child.stdout, child.stderr])
    listen(stream, (text) => {
      output.add(text)
      running.onOutput(text)
    })
  const closed = once(child, 'close')
  const exited = once(child, 'exit')
  // All of them fail together when it does not start; that is told once.
  for (const one of [closed, exited]) one.catch(() => {})
  await once(child, 'spawn').catch((error: NodeJS.ErrnoException) => {
    throw notStarted(error)
  })

  const pid = child.pid as number
  const why = await untilOver(exited, running)
  if (why !== 'ended') await processes.endTree({ pid, mark }, { graceMs }, never)
  await exited
  const left = await processes.endTree({ pid, hasEnded: true, mark }, { graceMs }, never)
  await Promise.race([closed, sleep(closeMs, undefined, { ref: false })])
  child.stdout.destroy()
  child.stderr.destroy()
  const exitCode = child.exitCode ?? 128 + (signalNumbers[child.signalCode ?? ''] ?? 0)
  return { why: signal.aborted ? 'cancelled' : why, exitCode, ...output.result(), left }
}

const signalNumbers: Readonly<Record<string, number>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGILL: 4,
  SIGABRT: 6,
  SIGFPE: 8,
  SIGKILL: 9,
  SIGSEGV: 11,
  SIGPIPE: 13,
  SIGTERM: 15,
}

async function untilOver(exited: Promise<unknown>, { timeoutMs, signal }: Running): Promise<Ran['why']> {
  const done = Promise.withResolvers<Ran['why']>()
  const timer = setTimeout(() => done.resolve('timeout'), timeoutMs)
  const cancel = () => done.resolve('cancelled')
  if (signal.aborted) cancel()
  signal.addEventListener('abort', cancel, { once: true })
  try {
    return await Promise.race([done.promise, exited.then(() => 'ended' as const)])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', cancel)
  }
}

function listen(stream: Readable, onText: (text: string) => void): void {
  stream.setEncoding('utf8').on('data', onText)
  // What is cut off while it is read has nothing more to say.
  stream.on('error', () => {})
}

const notStarted = (error: NodeJS.ErrnoException): AppError =>
  new AppError(
    'unavailable',
    `The command did not start: ${error.message}; is the folder of the project still there, and bash installed?`,
    { cause: error },
  )
