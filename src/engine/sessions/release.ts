import { type SessionId, shortId } from '../../contract/ids.ts'
import type { PaneRef } from '../../ports/terminal.ts'
import type { Parts } from './parts.ts'

const graceMs = 2000

/** Every process of a session has its id under this name. */
export const sessionMark = 'MUSTER_SESSION'

/** The program in a terminal; one that has ended is known by what it led, and its pid may be another's by now. */
export type Program = {
  readonly pid: number
  /** When it started: another process may have its pid since. */
  readonly startedAtMs?: number | undefined
  readonly pane: PaneRef
  readonly isRunning: boolean
}

export type Released = {
  readonly sessionId: SessionId
  /** Left out where its pid cannot be trusted: what it started is found by its mark alone. */
  readonly program?: Program | undefined
  readonly force?: boolean
  /** The screen of a program that ended by itself says why, and stays to be looked at. */
  readonly keepsTerminal?: boolean
}

/**
 * Ends everything that a session started, wherever it has got to, and takes away its token and its folder; answers what
 * is still alive. The folder goes last: while it is there, a new daemon knows that this is not done.
 */
export async function release(
  parts: Parts,
  released: Released,
  signal: AbortSignal,
): Promise<readonly number[]> {
  const { sessionId, program, force = false } = released
  const root = {
    ...(program && { pid: program.pid }),
    ...(program?.startedAtMs !== undefined && { startedAtMs: program.startedAtMs }),
    ...(program?.isRunning === false && { hasEnded: true as const }),
    mark: { name: sessionMark, value: sessionId },
  }
  const left = await parts.processes.endTree(root, { graceMs: force ? 0 : graceMs }, signal)
  if (program && !released.keepsTerminal) await parts.terminal.close(program.pane, signal)
  await parts.grants.revoke(sessionId)
  await parts.folders.remove(shortId(sessionId))
  return left
}
