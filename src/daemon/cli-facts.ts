import { askProgram, findProgram } from '../adapters/system/run-program.ts'
import { codingCliNames } from '../contract/agent-clis.ts'
import type { AgentCliName } from '../contract/config/names.ts'
import type { Config } from '../contract/config.ts'
import { linked } from '../contract/linked.ts'
import type { CliFact } from '../core/model/choose-worker.ts'
import type { AgentCli } from '../ports/agent-cli.ts'

/** What coding CLIs are looked for with. */
export type CliSurroundings = {
  readonly clis: Readonly<Record<AgentCliName, AgentCli>>
  readonly config: Pick<Config, 'claude' | 'clis'>
  readonly env: Readonly<Record<string, string | undefined>>
}

const longestMs = 10_000

/** Which coding CLIs are here, and whether each says that it is logged in; one that hangs is not known. */
export async function cliFacts(
  { clis, config, env }: CliSurroundings,
  signal: AbortSignal,
): Promise<readonly CliFact[]> {
  using bounded = linked(signal)
  const timer = setTimeout(() => bounded.abort(), longestMs)
  try {
    const tmux = await askProgram('tmux', ['-V'], { signal: bounded.signal, env }).catch(() => undefined)
    return await Promise.all(
      codingCliNames.map(async (name): Promise<CliFact> => {
        const command = commandOf(config, name)
        const file = await findProgram(command, env['PATH'])
        if (file === undefined) return { name, state: 'missing', detail: `${command} is not installed` }
        if (tmux === undefined)
          return {
            name,
            state: 'missing',
            detail: 'it runs in tmux, which is not installed: apt install tmux',
          }
        const unknown = { state: 'unknown', detail: 'it did not answer in time' } as const
        const login = await clis[name].login(command, bounded.signal).catch((error: unknown) => {
          if (!bounded.signal.aborted || signal.aborted) throw error
          return unknown
        })
        return { name, ...login }
      }),
    )
  } finally {
    clearTimeout(timer)
  }
}

/** The program that a coding CLI is started with. */
export const commandOf = ({ claude, clis }: Pick<Config, 'claude' | 'clis'>, name: string): string =>
  (name === 'claude' ? claude.default_command : clis[name]?.command) ?? name
