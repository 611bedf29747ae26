import { freeCommands } from '../../contract/cli/free-commands.ts'
import { geminiTools } from './dialect/tools.ts'

/** Tools that no role names: without them in the policy the model would try them again and again. */
const unnamed = [
  'update_topic',
  'get_internal_docs',
  'take_snapshot',
  'list_mcp_resources',
  'read_mcp_resource',
  'save_memory',
]

/** An agent is not asked for what it only reports or looks up with `sm`; the policy takes commands apart itself. */
const free = [
  '[[rule]]',
  'toolName = "run_shell_command"',
  `commandPrefix = ${JSON.stringify(freeCommands.map((name) => `sm ${name}`))}`,
  'decision = "allow"',
  'priority = 100',
  '',
]

/** The policy of a session: what it may say with `sm`, and what its role does not have. */
export const geminiPolicy = (tools: readonly string[] | undefined): string =>
  [...free, ...(tools ? denials(tools) : [])].join('\n')

/**
 * Rules that take from Gemini every tool of its own that a role does not have. It needs no hook and no daemon,
 * and a project's settings cannot switch it off; tools of MCP servers are left to the hook unless none is allowed.
 */
function denials(tools: readonly string[]): readonly string[] {
  const allowed = new Set(tools.flatMap((tool) => (tool === 'Task' ? ['Task', 'Agent'] : [tool])))
  const denied = Object.entries(geminiTools).flatMap(([own, name]) => (allowed.has(name) ? [] : [own]))
  const others = allowed.has('Agent') ? unnamed : [...unnamed, 'complete_task']
  const hasMcp = tools.some((tool) => tool.startsWith('mcp__'))
  return [
    '[[rule]]',
    `toolName = ${JSON.stringify([...denied, ...others])}`,
    'decision = "deny"',
    'priority = 999',
    '',
    ...(hasMcp
      ? []
      : ['[[rule]]', 'toolName = "*"', 'mcpName = "*"', 'decision = "deny"', 'priority = 999', '']),
  ]
}
