import { execFile } from 'node:child_process'

/** What a program printed, and how it ended; nothing when it could not be started. */
export type Ran = { readonly stdout: string; readonly exitCode: number }

/** How a question is put to a program. */
export type Asking = {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
}

/** Long enough for a first start from a cold disk. */
const patienceMs = 20_000
const mostBytes = 1 << 20

/** Runs a program to its end, with arguments that no shell sees. */
export function runProgram(
  argv: readonly [string, ...string[]],
  { env, signal }: Asking,
): Promise<Ran | undefined> {
  const [command, ...args] = argv
  const options = {
    env: { ...env },
    signal,
    timeout: patienceMs,
    maxBuffer: mostBytes,
    killSignal: 'SIGKILL',
  } as const
  return new Promise((resolve, reject) => {
    const child = execFile(command, args, options, (error, stdout) => {
      if (signal.aborted) reject(signal.reason as Error)
      else if (!error) resolve({ stdout, exitCode: 0 })
      else resolve(typeof error.code === 'number' ? { stdout, exitCode: error.code } : undefined)
    })
    // It must not wait for an answer on a terminal that is not there.
    child.stdin?.end()
  })
}
