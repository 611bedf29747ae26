import { at } from '../json/pointer.ts'
import { isRecord, type JsonRecord } from '../json/value.ts'
import { type AgentRegistry, agentIdentifier } from './agent.ts'
import { type Fields, type Found, fieldsOf, found, rename, setAside } from './fields.ts'
import { shown } from './log.ts'
import { subSessionOutput } from './outputs.ts'
import { sessionStatus } from './status-words.ts'
import { taskAssignment } from './task.ts'
import { endNotBefore, optionalTime, time, timeFrom } from './times.ts'
import { toolCalls } from './tool-call.ts'
import { id, itemsOf, optionalText } from './values.ts'

type Context = { readonly session: Fields; readonly known: AgentRegistry; readonly position: number }

/** The sub-sessions of a session; a missing list is an empty one. */
export function subSessions(session: Fields, known: AgentRegistry): void {
  const { record, place, log } = session
  const items = itemsOf(found(session, 'sub_sessions'))
  if (!items) {
    if (Object.hasOwn(record, 'sub_sessions'))
      setAside(session, 'sub_sessions', 'is not a list of sub-sessions')
    log(at(place, 'sub_sessions'), 'filled', 'it was missing; an empty list is put in')
  }
  record['sub_sessions'] = (items ?? []).flatMap((item, position) => {
    const sub = subSession(item, { session, known, position })
    if (!sub) item.log(item.place, 'dropped', `${shown(item.value)} is not a sub-session`)
    return sub ? [sub] : []
  })
}

function subSession(item: Found, { session, known, position }: Context): JsonRecord | undefined {
  const fields = fieldsOf(item)
  if (!fields) return undefined
  const { record } = fields
  const number = String(position + 1).padStart(3, '0')
  rename(fields, 'sub_session_id', ['id', 'session_id', 'subSessionId'])
  id(fields, 'sub_session_id', () => `sub-${number}`)
  rename(fields, 'parent_session_id', ['parent_id', 'parent', 'parentSessionId'])
  id(fields, 'parent_session_id', () => String(session.record['session_id']))
  subSessionAgent(fields, known)
  rename(fields, 'triggered_by_call_id', ['trigger_call_id', 'trigger', 'triggered_by', 'call_id'])
  optionalText(fields, 'triggered_by_call_id')
  rename(fields, 'started_at', ['created_at', 'start_time', 'startedAt'])
  rename(fields, 'completed_at', ['ended_at', 'end_time', 'finished_at', 'completedAt'])
  time(fields, 'started_at', () => firstCallTime(record) ?? String(session.record['created_at']))
  optionalTime(fields, 'completed_at')
  endNotBefore(fields, 'started_at', 'completed_at')
  sessionStatus(fields)
  taskAssignment(fields, `task-${number}`)
  toolCalls(fields, record['started_at'] as string)
  optionalText(fields, 'termination_reason')
  subSessionOutput(fields)
  return record
}

function subSessionAgent(fields: Fields, known: AgentRegistry): void {
  const { record, place, log } = fields
  rename(fields, 'agent', ['agent_identifier', 'agent_id', 'assigned_to', 'agent_type'])
  const role = { givesVerdicts: isRecord(record['output']) && 'verdict' in record['output'] }
  const agent = agentIdentifier(found(fields, 'agent'), { position: known.size, role, known })
  if (!agent) {
    if (Object.hasOwn(record, 'agent')) setAside(fields, 'agent', 'is not an agent')
    log(at(place, 'agent'), 'filled', 'it was missing; an agent named after the sub-session is put in')
  }
  record['agent'] = agent ?? {
    agent_id: `agent-${String(record['sub_session_id'])}`,
    agent_type: role.givesVerdicts ? 'reviewer' : 'developer',
  }
}

function firstCallTime(record: JsonRecord): string | undefined {
  const calls = record['tool_calls']
  const first: unknown = Array.isArray(calls) ? calls[0] : undefined
  return isRecord(first) ? timeFrom(first['started_at']) : undefined
}
