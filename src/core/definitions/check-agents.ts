import type { AgentDefinition, LoadedAgents } from '../../contract/agent-definition.ts'
import { nearest } from '../../contract/config/nearest.ts'
import type { DefinitionProblem } from '../../contract/definition-file.ts'
import { canonicalTools, delegatingTools } from '../../contract/tool-names.ts'

/** Lists everything that is wrong or doubtful about the agent files, in the order of files and lines. */
export function checkAgents({ agents, problems }: LoadedAgents): DefinitionProblem[] {
  const known = new Set(agents.flatMap((agent) => [agent.name, ...agent.aliases]))
  const doubts = agents.flatMap((agent) => [
    ...unknownTools(agent),
    ...serverTools(agent),
    ...idleTools(agent),
    ...delegation(agent, known),
    ...emptiness(agent),
  ])
  return [...problems, ...doubts].toSorted(
    (a, b) => Number(a.file > b.file) - Number(a.file < b.file) || a.line - b.line,
  )
}

function unknownTools(agent: AgentDefinition): DefinitionProblem[] {
  const odd = agent.tools.filter(
    (tool) => tool !== '*' && !tool.startsWith('mcp__') && !canonicalTools.includes(tool),
  )
  return odd.map((tool) => {
    const near = nearest(tool, canonicalTools)
    return warning(
      agent,
      'tools',
      `there is no tool called ${tool}${near === undefined ? '' : `; did you mean ${near}?`}`,
    )
  })
}

/** A tool of an MCP server is `mcp__server__tool`, and an agent has only the servers that it names. */
function serverTools(agent: AgentDefinition): DefinitionProblem[] {
  const servers = Array.isArray(agent.mcp) ? agent.mcp : Object.keys(agent.mcp ?? {})
  return agent.tools
    .filter((tool) => tool.startsWith('mcp__'))
    .flatMap((tool) => {
      const [, server = '', name] = tool.split('__')
      if (!name)
        return [warning(agent, 'tools', `${tool} names no tool: write mcp__${server}__ and its name`)]
      return servers.includes(server)
        ? []
        : [
            warning(
              agent,
              'tools',
              `${tool} is not there without its server: mcp: [${server}] names one of the settings`,
            ),
          ]
    })
}

/** Tools without the action that they need: each of their calls is denied. */
function idleTools(agent: AgentDefinition): DefinitionProblem[] {
  const idle = agent.tools.filter((tool) => tool === 'Write' || tool === 'Edit')
  if (idle.length === 0 || agent.policy.allow.includes('Patch')) return []
  return [warning(agent, 'tools', `without policy: [Patch], ${idle.join(' and ')} are denied`)]
}

function delegation(agent: AgentDefinition, known: ReadonlySet<string>): DefinitionProblem[] {
  const { allow, delegateTargets } = agent.policy
  const may = allow.includes('Delegate')
  const hasTool = agent.tools.includes('*') || agent.tools.some((tool) => delegatingTools.includes(tool))
  const targets = delegateTargets === 'any' ? [] : delegateTargets
  const found = targets
    .filter((target) => !known.has(target))
    .map((target) => `delegate_targets names ${target}, which is not an agent`)
  if (may && agent.kind === 'subagent') found.push('a subagent may never delegate; remove Delegate')
  if (may && agent.kind === 'main' && !hasTool)
    found.push(`Delegate needs one of the tools ${delegatingTools.join(', ')}`)
  if (!may && targets.length > 0) found.push('delegate_targets has no effect without Delegate')
  return found.map((message) => warning(agent, 'policy', message))
}

function emptiness(agent: AgentDefinition): DefinitionProblem[] {
  const found: DefinitionProblem[] = []
  if (agent.prompt === '')
    found.push(warning(agent, 'name', 'the prompt is empty: write it below the second ---'))
  if (agent.tools.length === 0) {
    found.push(warning(agent, 'tools', 'no tools: the agent can only talk; tools: ["*"] allows all'))
  }
  if (agent.description === '') {
    found.push(warning(agent, 'description', 'no description: nobody can tell when to use this agent'))
  }
  return found
}

function warning({ file, lines }: AgentDefinition, field: string, message: string): DefinitionProblem {
  return { file, line: lines[field] ?? 1, severity: 'warning', message }
}
