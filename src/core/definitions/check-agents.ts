import type { AgentDefinition, LoadedAgents } from '../../contract/agent-definition.ts'
import { nearest } from '../../contract/config/nearest.ts'
import type { DefinitionProblem } from '../../contract/definition-file.ts'

/** Lists everything that is wrong or doubtful about the agent files, in the order of files and lines. */
export function checkAgents({ agents, problems }: LoadedAgents): DefinitionProblem[] {
  const known = new Set(agents.flatMap((agent) => [agent.name, ...agent.aliases]))
  const doubts = agents.flatMap((agent) => [
    ...unknownTools(agent),
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

/** The tool names that agent files are written with; what comes from an MCP server is `mcp__server__tool`. */
const canonicalTools: readonly string[] = [
  'Agent',
  'AskUserQuestion',
  'Bash',
  'BashOutput',
  'Blackboard',
  'Edit',
  'EnterPlanMode',
  'ExitPlanMode',
  'Finalize',
  'Glob',
  'Grep',
  'Handoff',
  'KillShell',
  'LSP',
  'MultiEdit',
  'NotebookEdit',
  'Read',
  'SendMessage',
  'Skill',
  'Task',
  'TaskCreate',
  'TaskGet',
  'TaskList',
  'TaskUpdate',
  'TodoWrite',
  'WebFetch',
  'WebSearch',
  'Write',
  'capture_screenshot',
  'delegate_to_agent',
  'get_repo_info',
  'lock_paths',
  'unlock_paths',
]

/** The tools that hand work to another agent. */
export const delegatingTools: readonly string[] = ['Agent', 'Task', 'delegate_to_agent']
