import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compiledOnce } from '../support/daemon-process.ts'
import { smProgram } from '../support/programs.ts'
import { afterFile } from '../support/shared.ts'

export const root = join(import.meta.dirname, '..', '..')

/** A folder of its own for one test or file, short enough for a socket; it goes with the file. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'mcli-'))
  afterFile(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }))
  return folder
}

export type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string }

/** Runs a program to its end, without a terminal and with an environment of its own. */
export function runProgram(
  file: string,
  args: readonly string[],
  options: { cwd?: string; env?: Record<string, string | undefined>; input?: string } = {},
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, {
      cwd: options.cwd ?? root,
      env: { ...compiledOnce(), ...(options.env ?? process.env) },
    })
    const stdout: Buffer[] = []
    const stderr: Buffer[] = []
    child.stdout.on('data', (piece: Buffer) => stdout.push(piece))
    child.stderr.on('data', (piece: Buffer) => stderr.push(piece))
    child.once('error', reject)
    child.once('close', (code) =>
      resolve({ code, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() }),
    )
    // One that ends without reading breaks the pipe; how it ended says what it did.
    child.stdin.on('error', () => {})
    child.stdin.end(options.input ?? '')
  })
}

/** The environment of a user whose home is an empty folder. */
export function emptyEnvironment(more: Record<string, string> = {}): Record<string, string> {
  const home = temporaryFolder()
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    MUSTER_HOME: join(home, 'state'),
    XDG_CACHE_HOME: join(home, 'cache'),
    ...more,
  }
}

/** Runs `sm`. */
export function runSm(args: readonly string[], env: Record<string, string> = {}, input = ''): Promise<Ended> {
  return runProgram(process.execPath, [smProgram, ...args], { env: emptyEnvironment(env), input })
}
