import type { AgentIdentifier } from '../contract/session-file/multi-agent-session.ts'
import { id, itemsOf, optionalText, textFrom, word } from '../core/json/field-kinds.ts'
import { at, isRecord, type JsonRecord } from '../core/json/json-value.ts'
import { type Fields, type Found, fieldsOf, found, rename, setAside, shown } from '../core/json/repair.ts'
import { type AgentRole, fileAgentType } from './agent-types.ts'

/** Agents by id, so that one that is only named is known by what was said of it before. */
export type AgentRegistry = Map<string, AgentIdentifier>

type Context = { readonly position: number; readonly role?: AgentRole; readonly known?: AgentRegistry }

/** Who an agent is, from an object or a bare name; undefined when there is neither. */
export function agentIdentifier(item: Found, context: Context): JsonRecord | undefined {
  const { value, place, log } = item
  if (typeof value === 'string' && value !== '') {
    const known = context.known?.get(value)
    log(place, 'lifted', known ? 'a name is read as the agent of that id' : 'a name is read as an agent')
    // `dev-1` is a developer by its name; the number tells agents of one type apart.
    return {
      ...(known ?? {
        agent_id: value,
        agent_type: fileAgentType(value.replace(/[-_ ]?\d+$/, ''), context.role),
      }),
    }
  }
  const fields = fieldsOf(item)
  if (!fields) return undefined
  const { record } = fields
  rename(fields, 'agent_id', ['id', 'agentId', 'name'])
  rename(fields, 'agent_type', ['type', 'agentType', 'role'])
  agentType(fields, context)
  const type = textFrom(record['original_agent_type']) ?? String(record['agent_type'])
  id(fields, 'agent_id', () => `${type}-${String(context.position + 1).padStart(2, '0')}`)
  optionalText(fields, 'instance_id')
  optionalText(fields, 'original_agent_type')
  return record
}

function agentType({ record, place, log }: Fields, { role, known }: Context): void {
  const value = record['agent_type']
  if (value === 'architect' || value === 'developer' || value === 'reviewer') return
  const given = textFrom(value)
  const named = known?.get(textFrom(record['agent_id']) ?? '')?.agent_type
  const category = textFrom(record['role_category'])
  const type =
    given === undefined ? (named ?? fileAgentType(category ?? '', role)) : fileAgentType(given, role)
  if (given === undefined) log(at(place, 'agent_type'), 'filled', `it was missing; ${type} is put in`)
  else {
    record['original_agent_type'] ??= given
    log(at(place, 'agent_type'), 'translated', `${shown(value)} is read as ${type}`)
  }
  record['agent_type'] = type
}

const modes = {
  multi: 'multi_agent',
  multiagent: 'multi_agent',
  team: 'multi_agent',
  collaboration: 'multi_agent',
  single_agent: 'single',
  solo: 'single',
} as const
const patterns = {
  'master/worker': 'master_worker',
  hierarchical: 'master_worker',
  orchestrator: 'master_worker',
  consensus: 'peer_to_peer',
  voting: 'peer_to_peer',
  p2p: 'peer_to_peer',
  peer: 'peer_to_peer',
  sequential: 'pipeline',
} as const

/** Who works together and how; answers the agents by id. */
export function collaboration(session: Fields): AgentRegistry {
  const { record, place, log } = session
  const value = record['collaboration']
  if (!isRecord(value)) {
    if (value !== undefined && typeof value !== 'string')
      setAside(session, 'collaboration', 'is not an object')
    record['collaboration'] = typeof value === 'string' ? { mode: value } : {}
    log(at(place, 'collaboration'), 'filled', 'it is put together from what the session has')
  }
  const fields = fieldsOf(found(session, 'collaboration'))
  if (!fields) return new Map()
  const hasSubs = Array.isArray(record['sub_sessions']) && record['sub_sessions'].length > 0
  word(fields, 'mode', {
    allowed: ['single', 'multi_agent'],
    also: modes,
    fallback: () => (hasSubs ? 'multi_agent' : 'single'),
  })
  word(fields, 'pattern', {
    allowed: ['master_worker', 'peer_to_peer', 'pipeline'],
    also: patterns,
    fallback: () => 'master_worker',
  })
  for (const key of ['original_mode', 'original_pattern'])
    if (Object.hasOwn(fields.record, key) && typeof fields.record[key] !== 'string')
      fields.record[key] = shown(fields.record[key])
  record['collaboration'] = fields.record
  return agents(fields)
}

function agents(fields: Fields): AgentRegistry {
  const { record, place, log } = fields
  rename(fields, 'participants', ['agents', 'members', 'team'])
  const items = itemsOf(found(fields, 'participants'))
  if (!items) {
    if (Object.hasOwn(record, 'participants')) setAside(fields, 'participants', 'is not a list of agents')
    log(at(place, 'participants'), 'filled', 'it was missing; an empty list is put in')
  }
  const participants = (items ?? []).flatMap((item, position) => {
    const agent = agentIdentifier(item, { position })
    if (!agent) item.log(item.place, 'dropped', `${shown(item.value)} is not an agent`)
    return agent ? [agent] : []
  })
  record['participants'] = participants
  const registry: AgentRegistry = new Map()
  for (const agent of participants as unknown as AgentIdentifier[])
    if (!registry.has(agent.agent_id)) registry.set(agent.agent_id, agent)
  record['orchestrator'] = orchestrator(fields, participants, registry)
  const main = record['orchestrator'] as AgentIdentifier
  registry.set(main.agent_id, main)
  return registry
}

function orchestrator(fields: Fields, participants: readonly JsonRecord[], known: AgentRegistry): JsonRecord {
  const { record, place, log } = fields
  rename(fields, 'orchestrator', ['architect', 'lead', 'coordinator', 'master'])
  const given = agentIdentifier(found(fields, 'orchestrator'), {
    position: 0,
    role: { orchestrates: true },
    known,
  })
  if (given) return given
  if (Object.hasOwn(record, 'orchestrator')) setAside(fields, 'orchestrator', 'is not an agent')
  const architects = participants.filter((agent) => agent['agent_type'] === 'architect')
  const architect = architects.find((agent) => agent['original_agent_type'] === undefined) ?? architects[0]
  const chosen = architect ?? { agent_id: 'main', agent_type: 'architect' }
  log(at(place, 'orchestrator'), 'filled', `it was missing; ${String(chosen['agent_id'])} is put in`)
  return { ...chosen }
}
