import { delegationTools } from '../../contract/session-file/multi-agent-session.ts'
import type { ToolCategory } from '../../contract/values.ts'
import { isRecord } from '../json/json-value.ts'
import { onlyQueries } from './shell-query.ts'

/** Tools of every agent program by what they are for; names are compared without case, `_`, `-` and `.`. */
const tools: Record<Exclude<ToolCategory, 'interaction'>, readonly string[]> = {
  perception: [
    'Read',
    'Glob',
    'Grep',
    'LSP',
    'LS',
    'WebFetch',
    'WebSearch',
    'NotebookRead',
    'BashOutput',
    'TaskOutput',
    'read_file',
    'read_many_files',
    'list_directory',
    'list',
    'list_dir',
    'search_file_content',
    'grep_files',
    'google_web_search',
    'view_image',
    'find',
    'codesearch',
    'ToolSearch',
    'ListMcpResources',
    'ReadMcpResource',
  ],
  action: [
    'Write',
    'Edit',
    'MultiEdit',
    'NotebookEdit',
    'KillShell',
    'KillBash',
    'write_file',
    'replace',
    'apply_patch',
    'patch',
    'write_stdin',
    'create_file',
    'save_memory',
  ],
  planning: [
    'EnterPlanMode',
    'ExitPlanMode',
    'exit_plan_mode',
    'update_plan',
    'EnterWorktree',
    'ExitWorktree',
  ],
  task_management: [
    'TaskCreate',
    'TaskUpdate',
    'TaskList',
    'TaskGet',
    'TaskStop',
    'TodoWrite',
    'TodoRead',
    'write_todos',
  ],
}
const interaction = [
  'AskUserQuestion',
  'SendMessage',
  'Handoff',
  'ask_user',
  'request_user_input',
  'question',
  ...delegationTools,
]
const shells = [
  'Bash',
  'shell',
  'exec_command',
  'local_shell',
  'run_shell_command',
  'PowerShell',
  'container_exec',
]
const queryVerbs = /^(get|list|read|search|query|fetch|find|describe|view|show|look|inspect|count|check)/

const normal = (name: string): string => name.toLowerCase().replace(/[_\-. ]/g, '')
const shellNames = new Set(shells.map(normal))
const categories = new Map<string, ToolCategory>([
  ...Object.entries(tools).flatMap(([category, names]) =>
    names.map((name) => [normal(name), category as ToolCategory] as const),
  ),
  ...interaction.map((name) => [normal(name), 'interaction'] as const),
])

/**
 * What a tool call is for; a shell command is perception only when everything in it merely queries. A tool that the
 * format does not know is what its own program says it is.
 */
export function toolCategory(tool: string, params: unknown, told?: ToolCategory): ToolCategory {
  const name = normal(tool)
  if (shellNames.has(name)) return onlyQueries(commandOf(params)) ? 'perception' : 'action'
  const known = categories.get(name) ?? told
  if (known) return known
  const verb = tool.startsWith('mcp__') ? (tool.split('__').at(-1) ?? '') : tool
  return queryVerbs.test(verb.toLowerCase()) ? 'perception' : 'action'
}

/** Whether a tool runs command lines. */
export const isShell = (tool: string): boolean => shellNames.has(normal(tool))

/** The command line of a shell call; some programs give it as an argv after `bash -lc`. */
export function commandOf(params: unknown): string {
  const command = isRecord(params) ? (params['command'] ?? params['cmd'] ?? params['script']) : params
  if (typeof command === 'string') return command
  if (!Array.isArray(command)) return ''
  const words = command.map(String)
  const isWrapped = /^(?:.*\/)?(?:ba|z|da)?sh$/.test(words[0] ?? '') && /^-\w*c$/.test(words[1] ?? '')
  return isWrapped ? words.slice(2).join(' ') : words.map(quoted).join(' ')
}

const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
