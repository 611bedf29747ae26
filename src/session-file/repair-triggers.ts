import type { ToolCall } from '../contract/session-file/agent-session.ts'
import {
  type AgentIdentifier,
  delegationTools,
  type MultiAgentSession,
  type SubAgentSession,
} from '../contract/session-file/multi-agent-session.ts'
import { millisOf } from '../core/json/iso-time.ts'
import { at, compact, type Place, root } from '../core/json/json-value.ts'
import type { RepairLog } from '../core/json/repair.ts'
import { knownRole } from './agent-types.ts'
import { openOutput } from './call-events.ts'
import { mayHaveStarted } from './session-walk.ts'

/** The calls of one owner, by id, with those that delegate and are still free. */
type Calls = {
  readonly list: ToolCall[]
  readonly place: Place
  readonly byId: Map<string, ToolCall>
  readonly bySub: Map<string, ToolCall>
  readonly free: ToolCall[]
  readonly made: ToolCall[]
  readonly names: (wanted: string) => string
}

/** Gives every sub-session a delegating call of its parent that started it. */
export function repairTriggers(session: MultiAgentSession, log: RepairLog): void {
  const owners = callsByOwner(session)
  session.sub_sessions.forEach((sub, i) => {
    const calls = owners.get(sub.parent_session_id)
    if (!calls) return
    const place = at(at(at(root, 'sub_sessions'), i), 'triggered_by_call_id')
    const named = calls.byId.get(sub.triggered_by_call_id)
    if (named) {
      if (!delegationTools.has(named.tool_name)) makeDelegation(named, place, log)
      return
    }
    const found = calls.bySub.get(sub.sub_session_id) ?? takeFree(calls, sub) ?? madeCall(calls, sub, log)
    const before = sub.triggered_by_call_id as string | undefined
    if (before) (sub as Record<string, unknown>)['original_triggered_by_call_id'] ??= before
    sub.triggered_by_call_id = found.call_id
    log(place, 'linked', `call ${found.call_id} is read as the one that started it`)
  })
  for (const calls of owners.values()) insertMade(calls)
}

function callsByOwner(session: MultiAgentSession): Map<string, Calls> {
  const started = new Set(
    session.sub_sessions.map((sub) => `${sub.parent_session_id}\n${sub.triggered_by_call_id}`),
  )
  const owners = new Map<string, Calls>()
  const add = (id: string, list: ToolCall[], place: Place) => {
    if (owners.has(id)) return
    const delegating = list.filter((call) => delegationTools.has(call.tool_name))
    const named = delegating.flatMap((call) => {
      const sub = call.subagent_info?.sub_session_id
      return sub === undefined ? [] : [[sub, call] as const]
    })
    owners.set(id, {
      list,
      place,
      byId: new Map(list.map((call) => [call.call_id, call])),
      bySub: new Map(named),
      made: [],
      names: freeNames(list.map((call) => call.call_id)),
      free: delegating.filter(
        (call) => call.subagent_info?.sub_session_id === undefined && !started.has(`${id}\n${call.call_id}`),
      ),
    })
  }
  add(session.session_id, session.tool_calls, at(root, 'tool_calls'))
  session.sub_sessions.forEach((sub, i) =>
    add(sub.sub_session_id, sub.tool_calls, at(at(at(root, 'sub_sessions'), i), 'tool_calls')),
  )
  return owners
}

/** The first free delegating call that was running when the sub-session began; only the next few are looked at. */
function takeFree({ free }: Calls, sub: SubAgentSession): ToolCall | undefined {
  const start = millisOf(sub.started_at)
  const position = free
    .slice(0, 200)
    .findIndex((call) => millisOf(call.started_at) <= start && millisOf(call.ended_at) >= start)
  return position === -1 ? undefined : free.splice(position, 1)[0]
}

function makeDelegation(call: ToolCall, place: Place, log: RepairLog): void {
  log(
    place,
    'translated',
    `call ${call.call_id} (${call.tool_name}) started a sub-session; it is read as Task`,
  )
  call.original_tool_name ??= call.tool_name
  call.tool_name = 'Task'
  call.tool_category = 'interaction'
}

function madeCall(calls: Calls, sub: SubAgentSession, log: RepairLog): ToolCall {
  const call = delegatingCall(sub, calls.names(`task-${sub.sub_session_id}`))
  calls.made.push(call)
  calls.byId.set(call.call_id, call)
  log(
    calls.place,
    'made',
    `call ${call.call_id} is put in: something must have started ${sub.sub_session_id}`,
  )
  return call
}

/** Puts the calls that were made among the others, each before the first that started later. */
function insertMade({ list, made }: Calls): void {
  if (made.length === 0) return
  const waiting = made.toSorted((a, b) => millisOf(a.started_at) - millisOf(b.started_at))
  const before = list.splice(0)
  let next = 0
  for (const call of before) {
    const start = millisOf(call.started_at)
    for (let made = waiting[next]; made && millisOf(made.started_at) < start; made = waiting[next]) {
      list.push(made)
      next += 1
    }
    list.push(call)
  }
  for (const made of waiting.slice(next)) list.push(made)
}

/** The Task call that must have started a sub-session, made from what the sub-session says. */
export function delegatingCall(sub: SubAgentSession, callId: string): ToolCall {
  const end = sub.completed_at ?? sub.tool_calls.at(-1)?.ended_at ?? sub.started_at
  const ended = millisOf(end) < millisOf(sub.started_at) ? sub.started_at : end
  const type = sub.agent.original_agent_type ?? sub.agent.agent_type
  return compact({
    call_id: callId,
    tool_name: 'Task',
    tool_category: 'interaction' as const,
    started_at: sub.started_at,
    ended_at: ended,
    duration_ms: millisOf(ended) - millisOf(sub.started_at),
    input: { params: { subagent_type: type, prompt: sub.task.description } },
    output: outputOf(sub),
    subagent_info: {
      subagent_type: type,
      sub_session_id: sub.sub_session_id,
      tool_uses: sub.tool_calls.length,
    },
    open: sub.status === 'in_progress' ? true : undefined,
  })
}

function outputOf({ status }: SubAgentSession): ToolCall['output'] {
  return status === 'in_progress' ? { ...openOutput } : { status }
}

/**
 * A collaboration without sub-sessions: where call ids say who made them (po-1, dev-2), each role but the
 * orchestrator's becomes a sub-session; where they do not, it is a single session.
 */
export function rebuildRoles(session: MultiAgentSession, log: RepairLog): void {
  const { collaboration } = session
  if (collaboration.mode !== 'multi_agent' || session.sub_sessions.length > 0) return
  const groups = callsByRole(session)
  if (groups.size === 0) {
    // A call that may have started somebody gets its sub-session when delegations are linked.
    if (session.tool_calls.some((call) => call.tool_name === 'Task' && mayHaveStarted(call))) return
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

/** Gives unused names: the wanted one, or the same with a number appended. Cheap even if thousands want one name. */
export function freeNames(taken: Iterable<string>): (wanted: string) => string {
  const used = new Set(taken)
  const next = new Map<string, number>()
  return (wanted) => {
    let name = wanted
    let n = next.get(wanted) ?? 2
    for (; used.has(name); n++) name = `${wanted}~${n}`
    next.set(wanted, n)
    used.add(name)
    return name
  }
}
