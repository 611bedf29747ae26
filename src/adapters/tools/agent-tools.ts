import type { SpanId } from '../../contract/ids.ts'
import type { Checks } from '../../ports/checks.ts'
import type { Processes } from '../../ports/processes.ts'
import type { Tool } from '../../ports/tools.ts'
import { toolEnvironment } from '../system/define-tool.ts'
import { bashTool } from './bash-tool.ts'
import { editTool } from './edit-tool.ts'
import { globTool } from './glob-tool.ts'
import { grepTool } from './grep-tool.ts'
import { readTool } from './read-tool.ts'
import { type MatchesGlob, workspaceTurns } from './workspace-access.ts'
import { writeTool } from './write-tool.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** What the tools get from the daemon. */
export type ToolSurroundings = {
  /** The daemon's own environment, of which little is passed on. */
  readonly env: Environment
  /** What commands get besides. */
  readonly given?: Environment
  readonly processes: Processes
  readonly matchesGlob: MatchesGlob
  /** Full paths of folders of which a command may see nothing. */
  readonly hidden?: readonly string[]
  /** Full paths of folders outside of a project that commands may change. */
  readonly alsoWritable?: readonly string[]
  /** Whether commands run behind walls where that is possible; they do unless this says otherwise. */
  readonly hasWalls?: boolean
}

/** The file and shell tools of built-in agents, under Claude Code's names. */
export function agentTools(around: ToolSurroundings): readonly Tool[] {
  const { matchesGlob, processes, hidden = [], alsoWritable = [], hasWalls = true } = around
  const env = toolEnvironment(around.env, around.given)
  const turns = workspaceTurns()
  return [
    readTool,
    writeTool({ matchesGlob, turns }),
    editTool({ matchesGlob, turns }),
    globTool({ matchesGlob, env }),
    grepTool({ matchesGlob, env }),
    bashTool({ matchesGlob, turns, processes, env, hidden, alsoWritable, hasWalls }),
  ]
}

/** Checks as the Bash of an agent that may change nothing: what a command writes is thrown away. */
export function shellChecks(given: ToolSurroundings): Checks {
  const bash = agentTools(given).find(({ name }) => name === 'Bash')
  if (!bash) throw new Error('there is no Bash to run checks with')
  return {
    async run(command, { folder, timeoutMs }, signal) {
      const startedAt = performance.now()
      const outcome = await bash.run(
        { command, timeout: Math.min(timeoutMs, longestMs) },
        {
          workspace: folder,
          writable: [],
          mayChange: false,
          seen: new Map(),
          seenBefore: [],
          signal,
          onOutput: () => {},
          call: { callId: 'check', spanId: `${'0'.repeat(15)}1` as SpanId },
        },
      )
      signal.throwIfAborted()
      return {
        passed: !outcome.isError,
        exitCode: outcome.exitCode,
        output: outcome.text,
        durationMs: Math.round(performance.now() - startedAt),
      }
    },
  }
}

/** What Bash takes at most. */
const longestMs = 600_000
