import type { GateAnswer } from '../../contract/dialect.ts'
import { canonicalTool } from './tool-names.ts'

/** Tools by which an agent speaks or plans; no role needs them named, and none acts on anything. */
const always = new Set([
  'AskUserQuestion',
  'TodoWrite',
  'EnterPlanMode',
  'ExitPlanMode',
  'TaskCreate',
  'TaskUpdate',
  'TaskList',
])

/** Whether a role may use a tool; nothing when no role limits it. */
export function gateTool(allowed: readonly string[] | undefined, tool: string): GateAnswer | undefined {
  if (allowed === undefined) return undefined
  const name = canonicalTool(tool)
  if (allowed.includes('*') || allowed.includes(name) || allowed.includes(tool) || always.has(name))
    return { allowed: true }
  const list = allowed.length === 0 ? 'none' : allowed.join(', ')
  return { allowed: false, reason: `${tool} is not among the tools of this role (${list}); work with those` }
}
