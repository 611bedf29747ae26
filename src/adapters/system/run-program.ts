import { execFile, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { constants, promises as fs } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../../contract/errors.ts'
import { environmentNames } from '../../contract/home.ts'
import type { Processes } from '../../ports/processes.ts'

/** What a program printed and how it ended. */
type ProgramAnswer = { readonly code: number; readonly stdout: string; readonly stderr: string }

/** How a question is put to a program; without an environment it gets the daemon's own. */
export type Asking = {
  readonly signal: AbortSignal
  /** How long it may take. */
  readonly limitMs?: number
  readonly env?: Readonly<Record<string, string | undefined>>
}

/** Long enough for a first start from a cold disk. */
const longestMs = 20_000
/** Some CLIs load all of themselves to say it; with twenty agents at work that takes its time. */
const versionMs = 60_000

/** Runs a program for its answer; nothing when it is not there, took too long, or never started. */
export async function askProgram(
  command: string,
  args: readonly string[],
  asking: Asking,
): Promise<ProgramAnswer | undefined> {
  const answer = await answerOf(command, args, asking)
  return answer === 'late' ? undefined : answer
}

/** What a program says to `--version`. One that is slow is not called missing: on a busy machine it answers the next time. */
export async function askVersion(command: string, asking: Asking): Promise<ProgramAnswer | undefined> {
  const answer = await answerOf(command, ['--version'], { limitMs: versionMs, ...asking })
  if (answer === 'late')
    throw new AppError(
      'timeout',
      `${command} --version did not answer in time; the machine may be busy, so try again`,
    )
  return answer
}

function answerOf(
  command: string,
  args: readonly string[],
  { signal, env, limitMs = longestMs }: Asking,
): Promise<ProgramAnswer | 'late' | undefined> {
  return new Promise((resolve, reject) => {
    const options = {
      signal,
      timeout: limitMs,
      killSignal: 'SIGKILL',
      maxBuffer: 1 << 20,
      ...(env && { env: { ...env } }),
    } as const
    const child = execFile(command, [...args], options, (error, stdout, stderr) => {
      const code = error === null ? 0 : error.code
      if (signal.aborted) reject(signal.reason as Error)
      // Too much output ends it too, with a code that says so.
      else if (error?.killed && typeof code !== 'string') resolve('late')
      else resolve(typeof code === 'number' ? { code, stdout, stderr } : undefined)
    })
    // A program that asks something gets no answer instead of a wait.
    child.stdin?.on('error', () => {})
    child.stdin?.end()
  })
}

/** The version that a program says it is. */
export async function versionOf(command: string, signal: AbortSignal): Promise<string | undefined> {
  const answer = await askVersion(command, { signal })
  if (answer?.code !== 0) return undefined
  return /\d+\.\d+\.\d+[\w.-]*/.exec(`${answer.stdout}\n${answer.stderr}`)?.[0]
}

/** The file that a command means on a PATH, as a shell would find it; a command with a slash is that file. */
export async function findProgram(command: string, path = ''): Promise<string | undefined> {
  const places = command.includes('/')
    ? [command]
    : path
        .split(delimiter)
        .filter(isAbsolute)
        .map((folder) => join(folder, command))
  for (const place of places) if (await isProgram(place)) return place
  return undefined
}

async function isProgram(file: string): Promise<boolean> {
  try {
    await fs.access(file, constants.X_OK)
    return (await fs.stat(file)).isFile()
  } catch {
    return false
  }
}

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

/** Linux takes no single argument over 128 KB; the rest is for what a CLI adds around it. */
const longest = 100_000

/** Whether a text can be an argument of a program. */
export const fitsArgument = (text: string): boolean =>
  Buffer.byteLength(text) <= longest && !text.includes('\0')

/** The version in what a program prints, like `2.1.325 (Claude Code)`. */
export const versionIn = (text: string): string | undefined => /\d+\.\d+\.\d+/.exec(text)?.[0]

/** Whether a version is that one or later; a text that is no version is older than all. */
export function isAtLeast(version: string, since: string): boolean {
  const [have, want] = [partsOf(version), partsOf(since)]
  if (have.length === 0) return false
  for (let i = 0; i < want.length; i++) {
    const difference = (have[i] ?? 0) - (want[i] ?? 0)
    if (difference !== 0) return difference > 0
  }
  return true
}

const partsOf = (version: string): number[] => versionIn(version)?.split('.').map(Number) ?? []
