import type {
  AgentDefinition,
  AgentProblem,
  AgentSource,
  LoadedAgents,
  ShadowedAgent,
} from '../../contract/agent-definition.ts'

/** Agents as they were read, in the order of their files, and whether a project's may change what others brought. */
export type FoundAgents = { readonly agents: readonly AgentDefinition[]; readonly trusted: boolean }

const rank: Record<AgentSource, number> = { shipped: 0, user: 1, project: 2 }

/** Decides which file wins each name and each alias: project over user over shipped, in a layer the first file. */
export function layerAgents({ agents, trusted }: FoundAgents): LoadedAgents {
  const problems: AgentProblem[] = []
  const shadowed: ShadowedAgent[] = []
  const winners = new Map<string, AgentDefinition>()
  for (const agent of agents.toSorted((a, b) => rank[a.source] - rank[b.source])) {
    const below = winners.get(agent.name)
    const isHeldBack = agent.source === 'project' && !trusted
    if (below?.source === agent.source) {
      problems.push(error(agent, `the agent ${agent.name} is already defined by ${below.file}`))
    } else if (isHeldBack && isTaken(agent.name, winners)) {
      problems.push(
        error(
          agent,
          `may not replace the agent ${agent.name}: the project is not trusted; copy it to your own agents folder`,
        ),
      )
    } else {
      if (below !== undefined) shadowed.push({ ...nameOf(below), by: agent.file })
      const { definition, warnings } = isHeldBack ? harmless(agent) : { definition: agent, warnings: [] }
      problems.push(...warnings)
      // `sm spawn Engineer` must find a project's own developer as it finds the shipped one.
      const aliases = [...new Set([...definition.aliases, ...(below?.aliases ?? [])])]
      winners.set(agent.name, { ...definition, aliases })
    }
  }
  const settled = settleAliases([...winners.values()], trusted)
  return { agents: settled.agents, problems: [...problems, ...settled.problems], shadowed }
}

function isTaken(name: string, winners: ReadonlyMap<string, AgentDefinition>): boolean {
  return (
    winners.has(name) ||
    [...winners.values()].some((agent) => agent.source !== 'project' && agent.aliases.includes(name))
  )
}

// A cloned repository must not start programs, nor prompt an agent while nobody looks.
function harmless(agent: AgentDefinition) {
  const held = ['mcp', 'idle_prompt'].filter((field) => agent.lines[field] !== undefined)
  return {
    definition: { ...agent, mcp: undefined, idlePrompt: undefined, idleIntervalSecs: undefined },
    warnings: held.map((field) => warning(agent, field, `${field} is not used: the project is not trusted`)),
  }
}

function settleAliases(agents: readonly AgentDefinition[], trusted: boolean) {
  const problems: AgentProblem[] = []
  const owners = new Map(agents.map((agent) => [agent.name, agent]))
  const strength = ({ source }: AgentDefinition) => (source === 'project' && !trusted ? -1 : rank[source])
  const settled = agents
    .toSorted((a, b) => strength(b) - strength(a))
    .map((agent) => {
      const aliases = agent.aliases.filter((alias) => {
        const owner = owners.get(alias)
        if (owner === undefined) owners.set(alias, agent)
        // Losing an alias to a stronger layer is what layers are for; nobody needs to hear of it.
        else if (owner.name !== agent.name && rank[agent.source] >= rank[owner.source]) {
          problems.push(warning(agent, 'aliases', `the alias ${alias} already means ${owner.name}`))
        }
        return owner === undefined
      })
      return { ...agent, aliases }
    })
  return { agents: settled.toSorted((a, b) => (a.name < b.name ? -1 : 1)), problems }
}

function nameOf({ name, source, file }: AgentDefinition) {
  return { name, source, file }
}

function error({ file, lines }: AgentDefinition, message: string): AgentProblem {
  return { file, line: lines['name'] ?? 1, severity: 'error', message }
}

function warning({ file, lines }: AgentDefinition, field: string, message: string): AgentProblem {
  return { file, line: lines[field] ?? 1, severity: 'warning', message }
}
