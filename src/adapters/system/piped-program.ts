import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { environmentNames } from '../../contract/home.ts'
import type { Processes } from '../../ports/processes.ts'

type Starting = {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly folder: string
  readonly processes: Processes
}

/** A program that is spoken with by its pipes. */
export type PipedProgram = {
  readonly input: Writable
  readonly output: Readable
  /** Fulfilled when it and its pipes are over. */
  readonly closed: Promise<void>
  /** The end of what it said besides. */
  lastWords(): string
  /** Ends it and everything that it started; whoever asks second waits for the same end. */
  end(): Promise<void>
}

const graceMs = 500
const mostWords = 2000
const never = new AbortController().signal

/** Starts a program in a group of its own: signals for the daemon pass it by, and it can be ended as a whole. */
export async function startPiped({ argv, env, folder, processes }: Starting): Promise<PipedProgram> {
  const mark = { name: environmentNames.call, value: randomUUID() }
  const [command = '', ...args] = argv
  const child = spawn(command, args, {
    cwd: folder,
    env: { ...env, [mark.name]: mark.value },
    detached: true,
    stdio: 'pipe',
  })
  let words = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    words = (words + text).slice(-mostWords)
  })
  // A pipe that breaks says nothing that its end does not.
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on('error', () => {})
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
  await once(child, 'spawn')
  child.on('error', () => {})
  const pid = child.pid as number

  const end = async (): Promise<void> => {
    const hasEnded = child.exitCode !== null || child.signalCode !== null
    child.stdin.end()
    await processes.endTree({ pid, mark, ...(hasEnded && { hasEnded }) }, { graceMs }, never)
    // Last words may still be on their way; a pipe can be held open by a process that is not ours to end.
    await Promise.race([closed, sleep(graceMs, undefined, { ref: false })])
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy()
  }
  let ending: Promise<void> | undefined
  return {
    input: child.stdin,
    output: child.stdout,
    closed,
    lastWords: () => words.trim(),
    end: () => (ending ??= end()),
  }
}
