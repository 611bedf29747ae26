import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { AppError } from '../contract/errors.ts'
import type { Io } from './io.ts'

const run = promisify(execFile)

/** Asks the user's systemd; where there is none, says so. */
export async function systemctl(io: Io, ...args: string[]): Promise<void> {
  try {
    await run('systemctl', ['--user', ...args], { env: io.env as NodeJS.ProcessEnv, signal: io.signal })
  } catch (cause) {
    io.signal.throwIfAborted()
    const { code, stderr = '' } = cause as { code?: string | number; stderr?: string }
    const why = code === 'ENOENT' ? 'there is no systemctl' : stderr.trim() || String(cause)
    throw new AppError(
      'unavailable',
      `systemd does not answer (${why}); without it start Muster at login with: sm up`,
      { cause },
    )
  }
}
