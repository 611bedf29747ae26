import type { ToolCall } from '../../../contract/formats/std-001/tool-call.ts'
import type { AgentIdentifier } from '../../../contract/formats/std-008/agent.ts'
import type { MultiAgentSession } from '../../../contract/formats/std-008/session.ts'
import type { SubAgentSession } from '../../../contract/formats/std-008/sub-session.ts'
import { knownRole } from '../agent-types.ts'
import { at, root } from '../json/pointer.ts'
import { millisOf } from '../json/time.ts'
import type { RepairLog } from '../repair/log.ts'

/**
 * A collaboration without sub-sessions: where call ids say who made them (po-1, dev-2), each role but the
 * orchestrator's becomes a sub-session; where they do not, it is a single session.
 */
export function rebuildRoles(session: MultiAgentSession, log: RepairLog): void {
  const { collaboration } = session
  if (collaboration.mode !== 'multi_agent' || session.sub_sessions.length > 0) return
  const groups = callsByRole(session)
  if (groups.size === 0) {
    if (session.tool_calls.some((call) => call.tool_name === 'Task')) return
    collaboration.original_mode ??= collaboration.mode
    collaboration.mode = 'single'
    log(
      at(root, 'collaboration'),
      'downgraded',
      'nothing in the file shows a second agent; its mode is single now',
    )
    return
  }
  const moved = new Set([...groups.values()].flat())
  session.tool_calls = session.tool_calls.filter((call) => !moved.has(call))
  let n = 0
  for (const [role, calls] of groups) {
    n += 1
    session.sub_sessions.push(roleSession({ session, role, calls, n }))
    log(at(root, 'sub_sessions'), 'made', `the calls named ${role}… are the sub-session of that role`)
  }
}

/** The calls of each role that is not the orchestrator's; empty unless two roles can be told apart. */
function callsByRole(session: MultiAgentSession): Map<string, ToolCall[]> {
  const { orchestrator } = session.collaboration
  const groups = new Map<string, ToolCall[]>()
  for (const call of session.tool_calls) {
    const prefix = /^([A-Za-z]+(?:_[A-Za-z]+)*)[-_.:]/.exec(call.call_id)?.[1]?.toLowerCase()
    if (prefix === undefined || knownRole(prefix) === undefined) continue
    const group = groups.get(prefix)
    if (group) group.push(call)
    else groups.set(prefix, [call])
  }
  const own = [...groups.keys()].find((role) => isRole(orchestrator, role))
  const first = groups.keys().next().value
  const leads = own ?? (groups.size > 1 ? first : undefined)
  if (leads !== undefined) groups.delete(leads)
  return groups
}

type RoleSource = {
  readonly session: MultiAgentSession
  readonly role: string
  readonly calls: readonly ToolCall[]
  readonly n: number
}

function roleSession({ session, role, calls, n }: RoleSource): SubAgentSession {
  const agent = participant(session, role)
  const starts = calls.map((call) => call.started_at)
  const ends = calls.map((call) => call.ended_at)
  const started = starts.reduce((a, b) => (millisOf(b) < millisOf(a) ? b : a))
  const ended = ends.reduce((a, b) => (millisOf(b) > millisOf(a) ? b : a))
  const isFailed = calls.at(-1)?.output.status === 'failed'
  return {
    sub_session_id: `sub-${role}`,
    parent_session_id: session.session_id,
    agent: { ...agent },
    triggered_by_call_id: '',
    task: {
      task_id: `task-${String(n).padStart(3, '0')}`,
      description: calls[0]?.input.description ?? session.task_title,
      priority: 'medium',
    },
    started_at: started,
    completed_at: ended,
    status: isFailed ? 'failed' : 'success',
    tool_calls: [...calls],
  }
}

function participant({ collaboration }: MultiAgentSession, role: string): AgentIdentifier {
  const listed = collaboration.participants.find((agent) => isRole(agent, role))
  if (listed) return listed
  const agent_type = knownRole(role) ?? 'developer'
  const agent: AgentIdentifier = {
    agent_id: role,
    agent_type,
    ...(role === agent_type ? {} : { original_agent_type: role }),
  }
  collaboration.participants.push(agent)
  return agent
}

const initials = (name: string): string =>
  name
    .split(/[_\s-]+/)
    .map((part) => part[0] ?? '')
    .join('')

/** Whether a call-id prefix such as `po`, `dev` or `architect` means this agent. */
function isRole(agent: AgentIdentifier, role: string): boolean {
  const names = [agent.agent_id, agent.original_agent_type ?? agent.agent_type].map((name) =>
    name.toLowerCase(),
  )
  return names.some(
    (name) => name === role || initials(name) === role || (role.length > 2 && name.startsWith(role)),
  )
}
