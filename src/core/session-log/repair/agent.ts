import type { AgentIdentifier } from '../../../contract/formats/std-008/agent.ts'
import { type AgentRole, fileAgentType } from '../agent-types.ts'
import { at } from '../json/pointer.ts'
import type { JsonRecord } from '../json/value.ts'
import { type Fields, type Found, fieldsOf, rename } from './fields.ts'
import { shown } from './log.ts'
import { id, optionalText, textFrom } from './values.ts'

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
