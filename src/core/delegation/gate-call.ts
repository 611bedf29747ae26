import type { AgentDefinition, Capability } from '../../contract/agent-definition.ts'
import { canonicalTool, gateTool } from './allowed-tools.ts'
import { matchesGlob } from './globs.ts'
import { verifies } from './verification-command.ts'

/** What of an agent the gates go by. It is taken once, when the run begins: a changed file opens no gate of it. */
export type GatedAgent = Pick<AgentDefinition, 'name' | 'kind' | 'tools' | 'policy' | 'workGlobs'>

/** Who makes a call. */
export type Caller = {
  readonly agent: GatedAgent
  /** How deep below a main agent it runs; a main agent is 0. */
  readonly depth: number
  /** What its task may change, and that of the run it works for: each is a limit; none means everything. */
  readonly scopes?: readonly (readonly string[])[]
}

/** What a call would do, as far as the gates care. */
export type Act = {
  readonly tool: string
  /** Files that it would change, relative to the project and with links resolved; outside of it they begin with `..`. */
  readonly changes?: readonly string[]
  /** The command that it would run. */
  readonly command?: string
  /** The agent that it names, as the model wrote it; nothing when there is none of that name. */
  readonly target?: { readonly name: string; readonly agent: GatedAgent | undefined }
}

/** Why a call was refused, for the record and for the model. */
export type Denial = {
  readonly gate: 'tool' | 'policy' | 'scope' | 'delegation' | 'approval'
  readonly rule: string
  readonly reason: string
}

/** Depth of delegation; trees of sessions have a limit of their own. */
const deepest = 1

const needs: Readonly<Record<string, Capability>> = {
  Write: 'Patch',
  Edit: 'Patch',
  Finalize: 'Finalize',
  Task: 'Delegate',
  Handoff: 'Delegate',
}

/** The one place where a call is let through or refused; nothing that a model says changes it. */
export function gateCall(caller: Caller, act: Act): Denial | undefined {
  return (
    gateOfTool(caller, act) ??
    gateOfPolicy(caller, act) ??
    gateOfTarget(caller, act) ??
    gateOfScope(caller, act)
  )
}

/** The same for a call in another program: whom it delegates to there is not ours to know. */
export function gateForeignCall(caller: Caller, act: Act): Denial | undefined {
  const known = { ...act, tool: canonicalTool(act.tool) }
  return gateOfTool(caller, act) ?? gateOfPolicy(caller, known) ?? gateOfScope(caller, known)
}

function gateOfTool({ agent }: Caller, { tool }: Act): Denial | undefined {
  const answer = gateTool(agent.tools, tool)
  return answer && !answer.allowed ? { gate: 'tool', rule: 'tools', reason: answer.reason } : undefined
}

function gateOfPolicy({ agent }: Caller, { tool, command }: Act): Denial | undefined {
  if (tool === 'Bash' && command !== undefined && !agent.policy.allow.includes('Patch')) {
    const answer = verifies(command)
    return answer.ok ? undefined : { gate: 'policy', rule: 'policy.Patch', reason: answer.reason }
  }
  const capability = needs[tool]
  if (capability === undefined || agent.policy.allow.includes(capability)) return undefined
  return {
    gate: 'policy',
    rule: `policy.${capability}`,
    reason: `${agent.name} has no policy ${capability}, which ${tool} needs; report what should be done instead`,
  }
}

function gateOfTarget({ agent, depth }: Caller, { tool, target }: Act): Denial | undefined {
  if (tool !== 'Task' && tool !== 'SendMessage' && tool !== 'Handoff') return undefined
  const denied = (rule: string, reason: string): Denial => ({ gate: 'delegation', rule, reason })
  if (agent.kind === 'subagent' || depth >= deepest)
    return denied(
      'subagent',
      `${agent.name} works for another agent and may neither delegate nor message; return the result instead`,
    )
  if (!target?.agent) return denied('target', `there is no agent ${target?.name ?? ''}; name one that exists`)
  const { name, kind } = target.agent
  if (tool === 'Task') {
    if (kind !== 'subagent')
      return denied(
        'target',
        `${name} is a main agent and takes no delegated work; send it a message instead`,
      )
    const { delegateTargets } = agent.policy
    if (delegateTargets !== 'any' && !delegateTargets.includes(name))
      return denied(
        'policy.delegate_targets',
        `${agent.name} may delegate to ${delegateTargets.join(', ')} only, not to ${name}`,
      )
    return undefined
  }
  if (kind !== 'main')
    return denied('target', `${name} is a subagent and gets no messages; delegate a task to it instead`)
  return name === agent.name ? denied('target', 'an agent does not message itself') : undefined
}

function gateOfScope({ agent, scopes = [] }: Caller, { changes = [] }: Act): Denial | undefined {
  for (const path of changes) {
    if (path === '' || path === '..' || path.startsWith('../') || path.startsWith('/'))
      return {
        gate: 'scope',
        rule: 'workspace',
        reason: `${path} is outside the project; work inside it`,
      }
    const limits = [
      ['work_globs', agent.workGlobs] as const,
      ...scopes.map((scope) => ['scope', scope] as const),
    ]
    const broken = limits.find(
      ([, globs]) => globs.length > 0 && !globs.some((glob) => matchesGlob(path, glob)),
    )
    if (broken)
      return {
        gate: 'scope',
        rule: broken[0],
        reason: `${path} is outside what may be changed (${broken[1].join(', ')}); leave it as it is`,
      }
  }
  return undefined
}

/** How often control may go the same way while one prompt of a person is worked on. */
export const handoffLimit = 3

/** The circle that passing control on once more would close, when it went the same way too often before. */
export function handoffLoop(trail: readonly string[], to: string): readonly string[] | undefined {
  const from = trail.at(-1)
  const before = trail.filter((name, i) => name === from && trail[i + 1] === to).length
  if (before < handoffLimit) return undefined
  const start = trail.lastIndexOf(to)
  return [...trail.slice(Math.max(0, start)), to]
}
