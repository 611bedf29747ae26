import { execFile } from 'node:child_process'

/** What a program printed and how it ended. */
export type ProgramAnswer = { readonly code: number; readonly stdout: string; readonly stderr: string }

/** How a question is put to a program; without an environment it gets the daemon's own. */
export type Asking = {
  readonly signal: AbortSignal
  readonly env?: Readonly<Record<string, string | undefined>>
}

/** Long enough for a first start from a cold disk. */
const longestMs = 20_000

/** Runs a program for its answer; nothing when it is not there, took too long, or never started. */
export function askProgram(
  command: string,
  args: readonly string[],
  { signal, env }: Asking,
): Promise<ProgramAnswer | undefined> {
  return new Promise((resolve, reject) => {
    const options = {
      signal,
      timeout: longestMs,
      killSignal: 'SIGKILL',
      maxBuffer: 1 << 20,
      ...(env && { env: { ...env } }),
    } as const
    const child = execFile(command, [...args], options, (error, stdout, stderr) => {
      const code = error === null ? 0 : error.code
      if (signal.aborted) reject(signal.reason as Error)
      else resolve(typeof code === 'number' ? { code, stdout, stderr } : undefined)
    })
    // A program that asks something gets no answer instead of a wait.
    child.stdin?.on('error', () => {})
    child.stdin?.end()
  })
}

/** The version that a program says it is. */
export async function versionOf(command: string, signal: AbortSignal): Promise<string | undefined> {
  const answer = await askProgram(command, ['--version'], { signal })
  if (answer?.code !== 0) return undefined
  return /\d+\.\d+\.\d+[\w.-]*/.exec(`${answer.stdout}\n${answer.stderr}`)?.[0]
}

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
