import type { AgentType } from '../contract/session-file/multi-agent-session.ts'

/** What is known of an agent beside the name of its type. */
export type AgentRole = { readonly orchestrates?: boolean; readonly givesVerdicts?: boolean }

const names: Record<AgentType, RegExp> = {
  architect:
    /^(architect|lead|orchestrator|coordinator|planner|manager|main|master|product_?owner|po|pm|design_?authority|da|plan|operator|user|human)$/,
  developer: /^(developer|dev|engineer|coder|implementer|worker|programmer|builder|code)$/,
  reviewer: /^(reviewer|review|rev|verifier|validator|challenger|critic|auditor|qa|judge|security)$/,
}
const categories = new Map<string, AgentType>([
  ['orchestrator', 'architect'],
  ['validator', 'reviewer'],
  ['worker', 'developer'],
  ['specialist', 'developer'],
])

/** The file's word for an agent: its own type if that is one of the three, else by what the agent does. */
export function fileAgentType(type: string, role: AgentRole = {}): AgentType {
  const name = type
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, '_')
  if (name === 'architect' || name === 'developer' || name === 'reviewer') return name
  if (role.givesVerdicts) return 'reviewer'
  if (role.orchestrates) return 'architect'
  return knownRole(name) ?? categories.get(name) ?? 'developer'
}

/** The file's word for a role name such as `po` or `dev`, when it is one that is used. */
export function knownRole(name: string): AgentType | undefined {
  const word = name.toLowerCase().replace(/[\s-]+/g, '_')
  return (Object.keys(names) as AgentType[]).find((type) => names[type].test(word))
}
