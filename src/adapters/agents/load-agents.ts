import type { AgentDefinition, LoadedAgents } from '../../contract/agent-definition.ts'
import { layerDefinitions } from '../system/layer-definitions.ts'
import {
  type DefinitionFolder,
  type DefinitionFormat,
  type KnownFiles,
  readDefinitions,
} from '../system/read-definitions.ts'
import { parseAgent } from './parse-agent.ts'

/** The folders in which agents are looked for. */
export type AgentFolders = {
  readonly folders: readonly DefinitionFolder[]
  readonly projectTrusted: boolean
  readonly known?: KnownFiles<AgentDefinition>
}

/** Reads every agent file, leaves out the broken ones with a reason, and lays the rest over each other. */
export async function loadAgents(from: AgentFolders, signal: AbortSignal): Promise<LoadedAgents> {
  const read = await readDefinitions(from.folders, agentFormat(from.known), signal)
  const { inForce, problems, shadowed } = layerDefinitions({
    word: 'agent',
    found: read.map(({ definition }) => definition).filter((agent) => agent !== undefined),
    trusted: from.projectTrusted,
    harmless,
  })
  return { agents: inForce, problems: [...read.flatMap((file) => file.problems), ...problems], shadowed }
}

const agentFormat = (known: AgentFolders['known'] = new Map()): DefinitionFormat<AgentDefinition> => ({
  fileName: /^(?!readme\.md$).+\.md$/i,
  known,
  parse: (text, from) => {
    const { agent, problems, hasFrontmatter } = parseAgent(text, from)
    return { definition: agent, problems, isOurs: hasFrontmatter }
  },
})

// A cloned repository must not start programs, nor prompt an agent while nobody looks.
function harmless(agent: AgentDefinition) {
  return {
    definition: { ...agent, mcp: undefined, idlePrompt: undefined, idleIntervalSecs: undefined },
    held: ['mcp', 'idle_prompt'].filter((field) => agent.lines[field] !== undefined),
  }
}
