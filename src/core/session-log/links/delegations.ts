import type { ToolCall } from '../../../contract/formats/std-001/tool-call.ts'
import type { AgentIdentifier } from '../../../contract/formats/std-008/agent.ts'
import { delegationTools } from '../../../contract/formats/std-008/delegation.ts'
import type { MultiAgentSession } from '../../../contract/formats/std-008/session.ts'
import type { SubAgentSession } from '../../../contract/formats/std-008/sub-session.ts'
import { fileAgentType } from '../agent-types.ts'
import { startedByCall } from '../checks/delegation.ts'
import { at, type Place, root } from '../json/pointer.ts'
import type { RepairLog } from '../repair/log.ts'
import { textFrom } from '../repair/values.ts'
import { indexSession, type Owner } from '../session-index.ts'
import { freeNames } from './free-names.ts'

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
