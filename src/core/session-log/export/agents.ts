import type { AgentIdentifier } from '../../../contract/formats/std-008/agent.ts'
import type { Agent } from '../../../contract/values.ts'
import { type AgentRole, fileAgentType } from '../agent-types.ts'
import { compact, isRecord } from '../json/value.ts'
import type { Collected } from './collect.ts'
import type { OwnerRecord } from './owner-record.ts'

/** The agents of a recorded session, each by one name in the whole file. */
export type FileAgents = {
  readonly orchestrator: AgentIdentifier
  readonly participants: AgentIdentifier[]
  of(owner: OwnerRecord): AgentIdentifier
  named(agent: Agent): AgentIdentifier
}

/** Names every agent by what it does: who orchestrates, who gives verdicts, who works. */
export function fileAgents(found: Collected): FileAgents {
  const parents = new Set(found.subs.map((owner) => owner.parent))
  const verifiers = new Set(found.claims.map(({ event }) => event.payload.verifierAgentId))
  const main = rootAgent(found.root)
  const known = new Map<string, AgentIdentifier>()
  const add = (agent: Agent, role: AgentRole): AgentIdentifier => {
    const id = agent.agentId || 'unknown'
    const before = known.get(id)
    if (before) return before
    const agent_type = fileAgentType(agent.agentType, role)
    const identifier = compact({
      agent_id: id,
      agent_type,
      instance_id: agent.instanceId,
      original_agent_type: agent.agentType === agent_type ? undefined : agent.agentType,
    })
    known.set(id, identifier)
    return identifier
  }
  const orchestrator = add(main, { orchestrates: true })
  const owners = new Map<OwnerRecord, AgentIdentifier>([[found.root, orchestrator]])
  found.subs.forEach((owner, i) => {
    const agent = subAgent(owner, i)
    const judges = givesVerdicts(owner) || verifiers.has(agent.agentId)
    owners.set(owner, add(agent, { givesVerdicts: judges, orchestrates: parents.has(owner) }))
  })
  for (const { event } of found.messages)
    for (const agent of [event.payload.from, event.payload.to]) add(agent, {})
  return {
    orchestrator,
    participants: [...known.values()].filter((agent) => agent.agent_id !== orchestrator.agent_id),
    of: (owner) => owners.get(owner) ?? orchestrator,
    named: (agent) => known.get(agent.agentId || 'unknown') ?? orchestrator,
  }
}

function givesVerdicts(owner: OwnerRecord): boolean {
  const output =
    owner.ended && 'output' in owner.ended.event.payload ? owner.ended.event.payload.output : undefined
  return owner.findings.length > 0 || (isRecord(output) && 'verdict' in output)
}

function rootAgent({ started, spawned }: OwnerRecord): Agent {
  const declared = started?.event.payload.agent ?? started?.event.payload.collaboration?.orchestrator
  return declared ?? spawned?.event.payload ?? { agentId: 'main', agentType: 'architect' }
}

function subAgent({ spawned, started }: OwnerRecord, position: number): Agent {
  const fallback = { agentId: `agent-${position + 1}`, agentType: 'developer' }
  return started?.event.payload.agent ?? spawned?.event.payload ?? fallback
}
