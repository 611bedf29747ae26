import { promises as fs } from 'node:fs'
import { isAbsolute } from 'node:path'
import type { AgentCli } from '../../ports/agent-cli.ts'
import type { Clock } from '../../ports/clock.ts'
import { findProgram } from './run-program.ts'

type Surroundings = { readonly path: string | undefined; readonly clock: Clock }

/** A shim may start another version without changing itself, so an answer is trusted for a minute only. */
const trustMs = 60_000

/** The same CLI, which asks a program for its version once a minute and not at every spawn. */
export function rememberVersion(cli: AgentCli, { path, clock }: Surroundings): AgentCli {
  const answers = new Map<string, { readonly version: string | undefined; readonly untilMs: number }>()
  return {
    ...cli,
    async version(command, signal) {
      // Relative to the folder of a session that is not there yet.
      if (command.includes('/') && !isAbsolute(command)) return cli.version(command, signal)
      const file = await findProgram(command, path)
      if (file === undefined) return undefined
      const { ino, mtimeMs, size } = await fs.stat(file)
      const key = [file, ino, mtimeMs, size].join(' ')
      const known = answers.get(key)
      if (known && clock.now() < known.untilMs) return known.version
      const version = await cli.version(command, signal)
      answers.clear()
      answers.set(key, { version, untilMs: clock.now() + trustMs })
      return version
    },
  }
}
