import type { AgentSession, ToolCall } from '../contract/session-file/agent-session.ts'
import type {
  AgentIdentifier,
  MultiAgentSession,
  SubAgentSession,
} from '../contract/session-file/multi-agent-session.ts'
import { textFrom } from '../core/json/field-kinds.ts'
import { at, type JsonRecord, type Place, placeAt } from '../core/json/json-value.ts'
import type { RepairLog } from '../core/json/repair.ts'
import { fileAgentType } from './agent-types.ts'
import { hasCollaboration } from './multi-agent.ts'
import { freeNames, rebuildRoles, repairTriggers } from './repair-triggers.ts'
import {
  callIds,
  cyclic,
  delegations,
  duplicates,
  type IdList,
  idLists,
  indexSession,
  lostEnds,
  lostReplies,
  mayHaveStarted,
  type Owner,
  unlistedAgents,
  withoutParent,
} from './session-walk.ts'

/** Repairs what records other than annotations say of each other, in place; each step rests on the ones before. */
export function repairLinks(session: AgentSession | MultiAgentSession, log: RepairLog): void {
  if (hasCollaboration(session)) {
    rebuildRoles(session, log)
    dropRepeatedParticipants(session, log)
  }
  uniqueIds(
    idLists(session).filter(({ what }) => what !== 'annotation'),
    log,
  )
  if (!hasCollaboration(session)) return
  repairParents(session, log)
  repairTriggers(session, log)
  linkDelegations(session, log)
  listAgents(session, log)
  dropLostReplies(session, log)
}

/** Tells annotations apart, and sets aside those over calls that are not in the file. */
export function repairAnnotations(session: AgentSession | MultiAgentSession, log: RepairLog): void {
  uniqueIds(
    idLists(session).filter(({ what }) => what === 'annotation'),
    log,
  )
  const annotations = session.phase_annotations ?? []
  const known = callIds(indexSession(session))
  const lost = annotations.filter((annotation) => lostEnds(annotation, known).length > 0)
  if (lost.length === 0) return
  for (const annotation of lost)
    log(
      placeAt(['phase_annotations', annotations.indexOf(annotation)]),
      'set_aside',
      'it covers calls that are not in the file',
    )
  session.phase_annotations = annotations.filter((annotation) => !lost.includes(annotation))
  const record = session as Record<string, unknown>
  const before = record['original_phase_annotations']
  record['original_phase_annotations'] = [...(Array.isArray(before) ? before : []), ...lost]
}

/** Gives a later record whose id is taken a new one, and keeps the old one beside. */
function uniqueIds(lists: readonly IdList[], log: RepairLog): void {
  for (const list of lists) {
    const repeated = duplicates(list)
    if (repeated.size === 0) continue
    const { key, path, taken } = list
    const items = list.items as readonly Record<string, unknown>[]
    const ids = items.map((item) => String(item[key]))
    const free = freeNames(taken === undefined ? ids : [taken, ...ids])
    for (const i of repeated.keys()) {
      const [item, id] = [items[i] as Record<string, unknown>, String(ids[i])]
      item[key] = free(id)
      item[`original_${key}`] ??= id
      log(placeAt([...path, i, key]), 'linked', `${id} is taken; it is ${String(item[key])} now`)
    }
  }
}

/** An agent that is listed twice takes part once. */
function dropRepeatedParticipants(session: MultiAgentSession, log: RepairLog): void {
  const list = idLists(session).find(({ what }) => what === 'participant')
  const repeated = list ? duplicates(list) : new Map<number, number>()
  const { collaboration } = session
  collaboration.participants = collaboration.participants.filter(({ agent_id }, i) => {
    if (repeated.has(i))
      log(placeAt(['collaboration', 'participants', i]), 'dropped', `${agent_id} is listed already`)
    return !repeated.has(i)
  })
}

/** Makes the session the parent of sub-sessions whose parents do not lead to it. */
function repairParents(session: MultiAgentSession, log: RepairLog): void {
  const index = indexSession(session)
  for (const i of [...withoutParent(session, index), ...cyclic(session, index)]) {
    const sub = session.sub_sessions[i] as SubAgentSession & Record<string, unknown>
    sub['original_parent_session_id'] ??= sub.parent_session_id
    sub.parent_session_id = session.session_id
    const place = placeAt(['sub_sessions', i, 'parent_session_id'])
    log(place, 'linked', 'its parents do not lead to the session; the session is its parent now')
  }
}

/** Lists the agents that messages and sub-sessions name. */
function listAgents(session: MultiAgentSession, log: RepairLog): void {
  const added = new Set<string>()
  for (const { agent } of unlistedAgents(session as unknown as JsonRecord)) {
    if (added.has(agent.agent_id)) continue
    added.add(agent.agent_id)
    session.collaboration.participants.push({ ...agent })
    const place = placeAt(['collaboration', 'participants'])
    log(place, 'linked', `${agent.agent_id} takes part, so it is listed`)
  }
}

/** Takes out replies to messages that are not there. */
function dropLostReplies(session: MultiAgentSession, log: RepairLog): void {
  for (const i of lostReplies(session)) {
    const message = session.messages[i] as MultiAgentSession['messages'][number]
    message.original_reply_to ??= message.reply_to
    log(placeAt(['messages', i, 'reply_to']), 'set_aside', `there is no message ${message.reply_to}`)
    delete message.reply_to
  }
}

/** Makes the link of every delegating call name the sub-session it started; in a collaboration each that succeeded has one. */
export function linkDelegations(session: MultiAgentSession, log: RepairLog): void {
  const index = indexSession(session)
  const isMulti = session.collaboration.mode === 'multi_agent'
  const made: SubAgentSession[] = []
  const agents = agentsByName(session.collaboration)
  const names = freeNames(index.byId.keys())
  for (const { owner, call, path, subs } of delegations(index)) {
    const place = placeAt(path)
    if (subs.length === 0 && isMulti && mayHaveStarted(call)) {
      const sub = subSessionFor({ call, owner, names, agents, session })
      made.push(sub)
      subs.push(sub.sub_session_id)
      const says = `sub-session ${sub.sub_session_id} is put in for the delegating call ${call.call_id}`
      log(place, 'made', says)
    }
    const [first] = subs
    if (first !== undefined) link(call, { subs, first, place }, log)
  }
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
