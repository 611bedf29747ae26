import type { AgentDefinition } from '../../contract/agent-definition.ts'
import type { GateAnswer } from '../../contract/decision.ts'
import { McpServer } from '../../contract/mcp-server.ts'

/**
 * Whether a role may use a tool; nothing when no role limits it. The list is exact, for agent programs too: a note,
 * a question or a plan let through beside it would make the list a hint.
 */
export function gateTool(allowed: readonly string[] | undefined, tool: string): GateAnswer | undefined {
  if (allowed === undefined) return undefined
  const name = canonicalTool(tool)
  if (allowed.includes('*') || allowed.includes(name) || allowed.includes(tool)) return { allowed: true }
  const list = allowed.length === 0 ? 'none' : allowed.join(', ')
  return { allowed: false, reason: `${tool} is not among the tools of this role (${list}); work with those` }
}

/** The tools of a role that a piece of work may use; without a list of its own, all of them. */
export function narrowTools(
  role: readonly string[],
  allowed: readonly string[] | undefined,
): readonly string[] {
  if (allowed === undefined || allowed.includes('*')) return role
  return role.includes('*') ? allowed : role.filter((tool) => allowed.includes(tool))
}

/** The MCP servers of an agent, and what of its list cannot be had. */
type AgentServers = {
  readonly servers: Readonly<Record<string, McpServer>>
  readonly problems: readonly { readonly server: string; readonly reason: string }[]
}

/** An agent names servers of the settings, or brings its own; it has no others. */
export function agentServers(
  mcp: AgentDefinition['mcp'],
  configured: Readonly<Record<string, McpServer>>,
): AgentServers {
  const servers: Record<string, McpServer> = {}
  const problems: { server: string; reason: string }[] = []
  const names = Array.isArray(mcp) ? mcp : Object.keys(mcp ?? {})
  for (const server of names) {
    const own = Array.isArray(mcp) ? undefined : mcp?.[server]
    if (own === undefined || own === null) {
      const known = Object.hasOwn(configured, server) ? configured[server] : undefined
      if (known) servers[server] = known
      else problems.push({ server, reason: 'there is no such server in the settings' })
      continue
    }
    const parsed = McpServer.safeParse(own)
    if (parsed.success) servers[server] = parsed.data
    else problems.push({ server, reason: parsed.error.issues[0]?.message ?? 'it does not fit' })
  }
  return { servers, problems }
}

/** One name for the tools that several CLIs have under different ones. */
const names: Readonly<Record<string, string>> = {
  shell: 'Bash',
  bash: 'Bash',
  local_shell: 'Bash',
  exec_command: 'Bash',
  write_stdin: 'Bash',
  unified_exec: 'Bash',
  run_shell_command: 'Bash',
  apply_patch: 'Edit',
  edit: 'Edit',
  replace: 'Edit',
  multiedit: 'Edit',
  MultiEdit: 'Edit',
  NotebookEdit: 'Edit',
  patch: 'Edit',
  write: 'Write',
  write_file: 'Write',
  read: 'Read',
  read_file: 'Read',
  read_many_files: 'Read',
  view_image: 'Read',
  NotebookRead: 'Read',
  list: 'Glob',
  ls: 'Glob',
  LS: 'Glob',
  glob: 'Glob',
  find: 'Glob',
  list_directory: 'Glob',
  grep: 'Grep',
  search_file_content: 'Grep',
  grep_search: 'Grep',
  Agent: 'Task',
  task: 'Task',
  spawn_agent: 'Task',
  webfetch: 'WebFetch',
  web_fetch: 'WebFetch',
  google_web_search: 'WebSearch',
  web_search: 'WebSearch',
  websearch: 'WebSearch',
  todowrite: 'TodoWrite',
  todoread: 'TodoWrite',
  write_todos: 'TodoWrite',
  update_plan: 'TodoWrite',
  ask_user: 'AskUserQuestion',
  question: 'AskUserQuestion',
}

/** The name a role's list uses for a tool. */
export const canonicalTool = (tool: string): string =>
  Object.hasOwn(names, tool) ? (names[tool] as string) : tool
