import type { Processes } from '../../ports/processes.ts'
import type { Tool } from '../../ports/tools.ts'
import { toolEnvironment } from '../system/tool-environment.ts'
import { bashTool } from './bash.ts'
import { editTool } from './edit.ts'
import { globTool } from './glob.ts'
import { grepTool } from './grep.ts'
import type { MatchesGlob } from './may-change.ts'
import { readTool } from './read.ts'
import { workspaceTurns } from './workspace-turns.ts'
import { writeTool } from './write.ts'

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

/** The file and shell tools of Muster's own agents, under Claude Code's names. */
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
