import { promises as fs } from 'node:fs'
import { join } from 'node:path'
import type { Processes } from '../../ports/processes.ts'
import type { ToolContext } from '../../ports/tools.ts'
import { ownTemporary } from '../system/own-temporary.ts'
import type { MatchesGlob } from './may-change.ts'
import { type Ran, runShell } from './run-shell.ts'
import type { WorkspaceTurns } from './workspace-turns.ts'

type Environment = Readonly<Record<string, string>>

/** What Bash needs of the world. */
export type BashParts = {
  readonly matchesGlob: MatchesGlob
  readonly turns: WorkspaceTurns
  readonly processes: Processes
  readonly env: Environment
  /** Full paths of folders of which a command may see nothing, where there are walls. */
  readonly hidden: readonly string[]
  /** Full paths of folders outside of the project that it may change, where there are walls: caches of programs. */
  readonly alsoWritable: readonly string[]
  /** Without them what may not change is guarded by copies, as where bwrap is missing. */
  readonly hasWalls: boolean
}

/** One call of Bash. */
export type BashCall = {
  readonly command: string
  readonly timeoutMs: number
  readonly context: ToolContext
  readonly parts: BashParts
}

/** One stream for both outputs keeps their order; what comes by the other is of the walls. */
const merged = ['sh', '-c', 'exec "$@" 2>&1', 'sh', 'bash', '-c']

/** Runs the command of a call behind what the argv before it puts up. */
export const runBash = (call: BashCall, before: readonly string[], env: Environment): Promise<Ran> =>
  runShell({
    argv: [...before, ...merged, call.command],
    folder: call.context.workspace,
    env,
    timeoutMs: call.timeoutMs,
    signal: call.context.signal,
    onOutput: call.context.onOutput,
    processes: call.parts.processes,
  })

/** Folders for the time of one call. */
export type TemporaryFolders = AsyncDisposable & {
  /** What the command finds as its folder for temporary files. */
  readonly forCommand: string
  /** Where copies of the project are kept. */
  readonly forCopies: string
}

export async function temporaryFolders(): Promise<TemporaryFolders> {
  const folder = await ownTemporary('bash')
  const [forCommand, forCopies] = [join(folder, 'tmp'), join(folder, 'kept')]
  await fs.mkdir(forCommand)
  await fs.mkdir(forCopies)
  return {
    forCommand,
    forCopies,
    [Symbol.asyncDispose]: () =>
      fs.rm(folder, { recursive: true, force: true }).catch((error: NodeJS.ErrnoException) => {
        // A command may leave folders that nobody but root can empty; they lie in no one's way.
        if (error.code !== 'EACCES' && error.code !== 'EPERM') throw error
      }),
  }
}
