import type { GateAnswer } from '../../contract/decision.ts'
import { canonicalTool } from './tool-names.ts'

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
