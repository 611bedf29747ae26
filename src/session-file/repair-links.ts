import type { AgentSession, ToolCall } from '../contract/session-file/agent-session.ts'
import {
  type AgentIdentifier,
  delegationTools,
  type MultiAgentSession,
  type SubAgentSession,
} from '../contract/session-file/multi-agent-session.ts'
import { textFrom } from '../core/json/field-kinds.ts'
import { at, type Place, root } from '../core/json/json-value.ts'
import type { RepairLog } from '../core/json/repair.ts'
import { fileAgentType } from './agent-types.ts'
import { cyclic, startedByCall } from './check-links.ts'
import { knownAgents } from './check-messages.ts'
import { hasCollaboration } from './multi-agent.ts'
import { freeNames, mendTriggers, rebuildRoles } from './repair-triggers.ts'
import { callIds, indexSession, type Owner } from './session-index.ts'

/** Mends what records other than annotations say of each other, in place; each step rests on the ones before. */
export function mendLinks(session: AgentSession | MultiAgentSession, log: RepairLog): void {
  if (hasCollaboration(session)) {
    rebuildRoles(session, log)
    uniqueIds(session, log)
    mendParents(session, log)
    mendTriggers(session, log)
    mendDelegations(session, log)
    mendMessages(session, log)
  } else uniqueCallIds(session, log)
}

type Renamable = { readonly items: readonly object[]; readonly key: string; readonly place: Place }

/** Gives a later record whose id is taken a new one, and keeps the old one beside. */
export function uniqueIds(session: MultiAgentSession, log: RepairLog): void {
  const subs = at(root, 'sub_sessions')
  participants(session, log)
  uniqueCallIds(session, log)
  rename({ items: session.sub_sessions, key: 'sub_session_id', place: subs }, [session.session_id], log)
  rename({ items: session.messages, key: 'message_id', place: at(root, 'messages') }, [], log)
  session.sub_sessions.forEach((sub, i) => {
    const place = at(subs, i)
    rename({ items: sub.tool_calls, key: 'call_id', place: at(place, 'tool_calls') }, [], log)
    if (sub.output && 'findings' in sub.output) {
      const findings = at(at(place, 'output'), 'findings')
      rename({ items: sub.output.findings, key: 'finding_id', place: findings }, [], log)
    }
  })
}

export function uniqueCallIds(session: AgentSession, log: RepairLog): void {
  rename({ items: session.tool_calls, key: 'call_id', place: at(root, 'tool_calls') }, [], log)
}

export function uniqueAnnotationIds(session: Pick<AgentSession, 'phase_annotations'>, log: RepairLog): void {
  const items = session.phase_annotations ?? []
  rename({ items, key: 'annotation_id', place: at(root, 'phase_annotations') }, [], log)
}

function rename({ items, key, place }: Renamable, taken: readonly string[], log: RepairLog): void {
  const records = items as readonly Record<string, unknown>[]
  const free = freeNames([...taken, ...records.map((record) => String(record[key]))])
  const seen = new Set(taken)
  records.forEach((record, i) => {
    const id = String(record[key])
    if (!seen.has(id)) {
      seen.add(id)
      return
    }
    const name = free(id)
    record[key] = name
    record[`original_${key}`] ??= id
    log(at(at(place, i), key), 'linked', `${id} is taken; it is ${name} now`)
  })
}

/** An agent that is listed twice takes part once. */
function participants({ collaboration }: MultiAgentSession, log: RepairLog): void {
  const place = at(at(root, 'collaboration'), 'participants')
  const seen = new Set<string>()
  collaboration.participants = collaboration.participants.filter((agent, i) => {
    const isNew = !seen.has(agent.agent_id)
    seen.add(agent.agent_id)
    if (!isNew) log(at(place, i), 'dropped', `${agent.agent_id} is listed already`)
    return isNew
  })
}

/** Hangs sub-sessions whose parent is not there, or is themselves, on the session. */
export function mendParents(session: MultiAgentSession, log: RepairLog): void {
  const index = indexSession(session)
  const lost = session.sub_sessions.flatMap((sub, i) => (index.byId.has(sub.parent_session_id) ? [] : [i]))
  for (const i of [...lost, ...cyclic(session, index)]) {
    const sub = session.sub_sessions[i] as MultiAgentSession['sub_sessions'][number] & Record<string, unknown>
    sub['original_parent_session_id'] ??= sub.parent_session_id
    sub.parent_session_id = session.session_id
    const place = at(at(at(root, 'sub_sessions'), i), 'parent_session_id')
    log(place, 'linked', 'its parents do not lead to the session; the session is its parent now')
  }
}

/** Lists the agents that messages and sub-sessions name, and takes out replies to messages that are not there. */
export function mendMessages(session: MultiAgentSession, log: RepairLog): void {
  const known = knownAgents(session)
  const named = [
    ...session.sub_sessions.map((sub) => sub.agent),
    ...session.messages.flatMap((message) => [message.from_agent, message.to_agent]),
  ]
  const place = at(at(root, 'collaboration'), 'participants')
  for (const agent of named) {
    if (known.has(agent.agent_id)) continue
    known.add(agent.agent_id)
    session.collaboration.participants.push({ ...agent })
    log(place, 'linked', `${agent.agent_id} takes part, so it is listed`)
  }
  const ids = new Set(session.messages.map((message) => message.message_id))
  session.messages.forEach((message, i) => {
    if (message.reply_to === undefined || ids.has(message.reply_to)) return
    ;(message as Record<string, unknown>)['original_reply_to'] ??= message.reply_to
    log(at(at(at(root, 'messages'), i), 'reply_to'), 'set_aside', `there is no message ${message.reply_to}`)
    delete message.reply_to
  })
}

/** Sets aside annotations over calls that are not in the file. */
export function mendAnnotations(session: AgentSession | MultiAgentSession, log: RepairLog): void {
  const annotations = session.phase_annotations
  if (!annotations || annotations.length === 0) return
  const known = callIds(session)
  const isKnown = ({ tool_call_range: range }: (typeof annotations)[number]) =>
    known.has(range.start_call_id) && known.has(range.end_call_id)
  const lost = annotations.filter((annotation) => !isKnown(annotation))
  if (lost.length === 0) return
  annotations.forEach((annotation, i) => {
    if (!isKnown(annotation))
      log(at(at(root, 'phase_annotations'), i), 'set_aside', 'it covers calls that are not in the file')
  })
  session.phase_annotations = annotations.filter(isKnown)
  const record = session as Record<string, unknown>
  const before = record['original_phase_annotations']
  record['original_phase_annotations'] = [...(Array.isArray(before) ? before : []), ...lost]
}

/** Makes the link of every delegating call name the sub-session it started; in a collaboration each has one. */
export function mendDelegations(session: MultiAgentSession, log: RepairLog): void {
  const index = indexSession(session)
  const started = startedByCall(index)
  const isMulti = session.collaboration.mode === 'multi_agent'
  const made: SubAgentSession[] = []
  const agents = agentsByName(session.collaboration)
  const names = freeNames(index.byId.keys())
  for (const owner of index.owners)
    owner.calls.forEach((call, n) => {
      if (!delegationTools.has(call.tool_name)) return
      const subs = started.get(owner)?.get(call.call_id) ?? []
      const place = placeOf(owner, n)
      if (subs.length === 0 && isMulti) {
        const sub = subSessionFor({ call, owner, names, agents, session })
        made.push(sub)
        log(
          place,
          'made',
          `sub-session ${sub.sub_session_id} is put in for the delegating call ${call.call_id}`,
        )
        subs.push(sub.sub_session_id)
      }
      const [first] = subs
      if (first !== undefined) link(call, { subs, first, place }, log)
    })
  for (const sub of made) session.sub_sessions.push(sub)
}

type Target = { readonly subs: readonly string[]; readonly first: string; readonly place: Place }

function link(call: ToolCall, { subs, first, place }: Target, log: RepairLog): void {
  const named = call.subagent_info?.sub_session_id
  if (named !== undefined && subs.includes(named)) return
  const type = textFrom(call.input.params['subagent_type']) ?? 'unknown'
  call.subagent_info = { subagent_type: type, ...call.subagent_info, sub_session_id: first }
  if (named !== undefined) call.subagent_info.original_sub_session_id ??= named
  log(at(place, 'subagent_info'), 'linked', `the call names ${first}, which it started`)
}

type Source = {
  readonly call: ToolCall
  readonly owner: Owner
  readonly names: (wanted: string) => string
  readonly agents: Map<string, AgentIdentifier>
  readonly session: MultiAgentSession
}

/** The sub-session a delegating call must have had: who and what are known from the call, its own calls are not. */
function subSessionFor({ call, owner, names, agents, session }: Source): SubAgentSession {
  const { params } = call.input
  const type = call.subagent_info?.subagent_type ?? textFrom(params['subagent_type']) ?? 'developer'
  const agentType = fileAgentType(type)
  const id = names(call.subagent_info?.sub_session_id ?? `sub-${call.call_id}`)
  const listed = agents.get(type)
  const agent = listed ?? {
    agent_id: type || 'agent',
    agent_type: agentType,
    ...(type === agentType ? {} : { original_agent_type: type }),
  }
  if (!listed) {
    session.collaboration.participants.push(agent)
    agents.set(type, agent)
  }
  return {
    sub_session_id: id,
    parent_session_id: owner.id,
    agent: { ...agent },
    triggered_by_call_id: call.call_id,
    task: {
      task_id: `task-${call.call_id}`,
      description:
        textFrom(params['prompt']) ?? textFrom(params['description']) ?? call.input.description ?? '',
      priority: 'medium',
    },
    started_at: call.started_at,
    ...(call.open ? {} : { completed_at: call.ended_at }),
    status: call.open ? 'in_progress' : call.output.status,
    tool_calls: [],
  }
}

/** Participants by id, and the first of each type by type. */
function agentsByName({ participants }: MultiAgentSession['collaboration']): Map<string, AgentIdentifier> {
  const agents = new Map<string, AgentIdentifier>()
  for (const agent of participants) {
    for (const name of [agent.agent_type, agent.original_agent_type])
      if (name !== undefined && !agents.has(name)) agents.set(name, agent)
  }
  for (const agent of participants) agents.set(agent.agent_id, agent)
  return agents
}

const placeOf = ({ path }: Owner, n: number): Place =>
  [...path, 'tool_calls', n].reduce<Place>((place, key) => at(place, key), root)
