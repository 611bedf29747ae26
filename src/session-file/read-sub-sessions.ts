import type { SessionStatus } from '../contract/session-file/agent-session.ts'
import { developerOutput, reviewerOutput } from '../core/delegation/read-outputs.ts'
import {
  endNotBefore,
  id,
  itemsOf,
  optionalText,
  optionalTexts,
  optionalTime,
  text,
  textFrom,
  time,
  timeFrom,
  word,
} from '../core/json/field-kinds.ts'
import { at, isRecord, type JsonRecord } from '../core/json/json-value.ts'
import { type Fields, type Found, fieldsOf, found, rename, setAside, shown } from '../core/json/repair.ts'
import { type AgentRegistry, agentIdentifier } from './read-agents.ts'
import { sessionStatus, toolCalls } from './read-calls.ts'

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

const priorities = {
  critical: 'high',
  urgent: 'high',
  highest: 'high',
  p0: 'high',
  p1: 'high',
  normal: 'medium',
  default: 'medium',
  p2: 'medium',
  lowest: 'low',
  minor: 'low',
  p3: 'low',
} as const

/** The task of a sub-session, from an object or a bare description. */
export function taskAssignment(sub: Fields, fallbackId: string): void {
  const { record, place, log } = sub
  rename(sub, 'task', ['task_assignment', 'assignment'])
  const value = record['task']
  if (!isRecord(value)) {
    const described = textFrom(value)
    if (described === undefined && Object.hasOwn(record, 'task')) setAside(sub, 'task', 'is not a task')
    record['task'] = {
      ...(described === undefined ? {} : { description: described }),
      ...(typeof record['task_id'] === 'string' ? { task_id: record['task_id'] } : {}),
    }
    log(at(place, 'task'), 'lifted', 'the task is put together from what the sub-session has')
  }
  const fields = fieldsOf(found(sub, 'task'))
  if (!fields) return
  rename(fields, 'task_id', ['id', 'taskId'])
  id(fields, 'task_id', () => fallbackId)
  rename(fields, 'description', ['task_description', 'title', 'prompt', 'summary'])
  text(fields, 'description', () => '')
  word(fields, 'priority', { allowed: ['high', 'medium', 'low'], also: priorities, fallback: () => 'medium' })
  rename(fields, 'dependencies', ['depends_on'])
  optionalTexts(fields, 'dependencies')
  record['task'] = fields.record
}

const developerSigns = ['status', 'changes', 'summary', 'files_created', 'files_modified', 'notes', 'task_id']

/** A sub-session's output as a developer's or a reviewer's; what is neither is kept beside as it is. */
export function subSessionOutput(sub: Fields): void {
  const { record } = sub
  if (!Object.hasOwn(record, 'output')) return
  const value = record['output']
  const taskId = isRecord(record['task']) ? String(record['task']['task_id']) : ''
  const output = found(sub, 'output')
  const isReview = isRecord(value) && ('verdict' in value || 'findings' in value)
  const isWork = isRecord(value) && developerSigns.some((sign) => sign in value)
  const read = isReview
    ? reviewerOutput(output, taskId)
    : isWork
      ? developerOutput(output, taskId)
      : undefined
  if (read) record['output'] = read
  else setAside(sub, 'output', 'is neither a developer’s nor a reviewer’s output')
}
