import { MessageType } from '../contract/events/message.ts'
import {
  AgentIdentifier,
  AgentMessage,
  CollaborationInfo,
  SubAgentSession,
  TaskAssignment,
} from '../contract/session-file/multi-agent-session.ts'
import { developerOutput, reviewerOutput } from '../core/delegation/read-outputs.ts'
import { text, textFrom, timeFrom, word } from '../core/json/field-kinds.ts'
import { fieldTable, numbered, readFields, readList, readRecord } from '../core/json/field-table.ts'
import { millisOf } from '../core/json/iso-time.ts'
import { at, isRecord, type JsonRecord } from '../core/json/json-value.ts'
import {
  type Fields,
  type Found,
  fieldsOf,
  found,
  keepOriginal,
  setAside,
  shown,
} from '../core/json/repair.ts'
import { type AgentRole, fileAgentType } from './agent-types.ts'
import { statusRow, toolCalls } from './read-calls.ts'

/** Reads what several agents did together: who they are, their sub-sessions and their messages. */
export function readCollaboration(session: Fields): void {
  const known = collaboration(session)
  readList(session, 'sub_sessions', {
    not: 'is not a list of sub-sessions',
    item: 'is not a sub-session',
    read: (item, position) => readRecord(item, subTable, { session, known, position }),
  })
  readList(session, 'messages', {
    not: 'is not a list of messages',
    item: 'is not a message',
    read: (item, position) => readRecord(item, messageTable, { session, known, position }),
  })
  sequenceNumbers(session)
}

/** Agents by id, so that one that is only named is known by what was said of it before. */
type AgentRegistry = Map<string, AgentIdentifier>
type AgentContext = { readonly position: number; readonly role?: AgentRole; readonly known?: AgentRegistry }
/** Where a sub-session or a message is read. */
type Context = { readonly session: Fields; readonly known: AgentRegistry; readonly position: number }

const agentTable = fieldTable<AgentContext>(AgentIdentifier, {
  agent_type: { read: agentType },
  agent_id: {
    fallback: ({ original_agent_type, agent_type }, { position }) =>
      `${textFrom(original_agent_type) ?? String(agent_type)}-${String(position + 1).padStart(2, '0')}`,
  },
})

const collaborationTable = fieldTable<{ readonly hasSubs: boolean }>(CollaborationInfo, {
  mode: { fallback: (_, { hasSubs }) => (hasSubs ? 'multi_agent' : 'single') },
  pattern: { words: { consensus: 'peer_to_peer' }, fallback: 'master_worker' },
  original_mode: { read: shownText },
  original_pattern: { read: shownText },
  participants: {
    list: {
      not: 'is not a list of agents',
      item: 'is not an agent',
      read: (item, position) => agentIdentifier(item, { position }),
    },
  },
  orchestrator: { read: orchestrator },
})

const taskTable = fieldTable<Context>(TaskAssignment, {
  task_id: { fallback: numbered('task') },
  description: { fallback: '' },
  priority: { words: { urgent: 'high' }, fallback: 'medium' },
})

const subTable = fieldTable<Context>(SubAgentSession, {
  sub_session_id: { fallback: numbered('sub') },
  parent_session_id: { fallback: (_, { session }) => String(session.record['session_id']) },
  agent: { read: subSessionAgent },
  // A missing trigger is looked for among the calls of the parent, once all are read.
  triggered_by_call_id: { read: (fields, key) => text(fields, key) },
  started_at: {
    fallback: (record, { session }) => firstCallTime(record) ?? String(session.record['created_at']),
  },
  completed_at: { notBefore: 'started_at' },
  status: statusRow,
  task: { read: task },
  tool_calls: { read: (fields) => toolCalls(fields, String(fields.record['started_at'])) },
  output: { read: readOutput },
})

const messageTable = fieldTable<Context>(AgentMessage, {
  message_id: { fallback: numbered('msg') },
  timestamp: { fallback: (_, { session }) => String(session.record['created_at']) },
  from_agent: { aliases: ['from'], read: messageSide },
  to_agent: { aliases: ['to'], read: messageSide },
  payload: { read: messagePayload },
  message_type: { aliases: ['type'], read: messageType },
  // Numbers are given to all messages together, when one has none.
  sequence_number: { read: () => {} },
})

/** Who an agent is, from an object or a bare name; undefined when there is neither. */
function agentIdentifier(item: Found, context: AgentContext): JsonRecord | undefined {
  const { value, place, log } = item
  if (typeof value !== 'string' || value === '') return readRecord(item, agentTable, context)
  const known = context.known?.get(value)
  log(place, 'lifted', known ? 'a name is read as the agent of that id' : 'a name is read as an agent')
  // `dev-1` is a developer by its name; the number tells agents of one type apart.
  const agent_type = fileAgentType(value.replace(/[-_ ]?\d+$/, ''), context.role)
  return { ...(known ?? { agent_id: value, agent_type }) }
}

function agentType(fields: Fields, key: string, { role, known }: AgentContext): void {
  const { record, place, log } = fields
  const value = record[key]
  if (value === 'architect' || value === 'developer' || value === 'reviewer') return
  const given = textFrom(value)
  const named = known?.get(textFrom(record['agent_id']) ?? '')?.agent_type
  const group = textFrom(record['role_category'])
  const type = given === undefined ? (named ?? fileAgentType(group ?? '', role)) : fileAgentType(given, role)
  record[key] = type
  if (given === undefined) log(at(place, key), 'filled', `it was missing; ${type} is put in`)
  else {
    record['original_agent_type'] ??= given
    log(at(place, key), 'translated', `${shown(value)} is read as ${type}`)
  }
}

/** Who works together and how; answers the agents by id. */
function collaboration(session: Fields): AgentRegistry {
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
  record['collaboration'] = readFields(fields, collaborationTable, { hasSubs })
  const { orchestrator: main, participants } = fields.record as unknown as CollaborationInfo
  return registryOf(participants).set(main.agent_id, main)
}

/** The first agent of each id. */
const registryOf = (agents: readonly AgentIdentifier[]): AgentRegistry =>
  new Map(agents.toReversed().map((agent) => [agent.agent_id, agent]))

/** The words of a value that a translated one was before. */
function shownText({ record }: Fields, key: string): void {
  if (Object.hasOwn(record, key) && typeof record[key] !== 'string') record[key] = shown(record[key])
}

function orchestrator(fields: Fields, key: string): void {
  const { record, place, log } = fields
  const participants = record['participants'] as AgentIdentifier[]
  const given = agentIdentifier(found(fields, key), {
    position: 0,
    role: { orchestrates: true },
    known: registryOf(participants),
  })
  if (!given && Object.hasOwn(record, key)) setAside(fields, key, 'is not an agent')
  const architects = participants.filter((agent) => agent.agent_type === 'architect')
  const architect = architects.find((agent) => agent.original_agent_type === undefined) ?? architects[0]
  const chosen = given ?? { ...(architect ?? { agent_id: 'main', agent_type: 'architect' }) }
  if (!given) log(at(place, key), 'filled', `it was missing; ${String(chosen['agent_id'])} is put in`)
  record[key] = chosen
}

function subSessionAgent(fields: Fields, key: string, { known }: Context): void {
  const { record, place, log } = fields
  const role = { givesVerdicts: isRecord(record['output']) && 'verdict' in record['output'] }
  const agent = agentIdentifier(found(fields, key), { position: known.size, role, known })
  if (!agent) {
    if (Object.hasOwn(record, key)) setAside(fields, key, 'is not an agent')
    log(at(place, key), 'filled', 'it was missing; an agent named after the sub-session is put in')
  }
  record[key] = agent ?? {
    agent_id: `agent-${String(record['sub_session_id'])}`,
    agent_type: role.givesVerdicts ? 'reviewer' : 'developer',
  }
}

function firstCallTime({ tool_calls: calls }: JsonRecord): string | undefined {
  const first: unknown = Array.isArray(calls) ? calls[0] : undefined
  return isRecord(first) ? timeFrom(first['started_at']) : undefined
}

/** The task of a sub-session, from an object or a bare description. */
function task(sub: Fields, key: string, context: Context): void {
  const { record, place, log } = sub
  if (!isRecord(record[key])) {
    const description = textFrom(record[key])
    if (description === undefined && Object.hasOwn(record, key)) setAside(sub, key, 'is not a task')
    record[key] = {
      ...(description === undefined ? {} : { description }),
      ...(typeof record['task_id'] === 'string' ? { task_id: record['task_id'] } : {}),
    }
    log(at(place, key), 'lifted', 'the task is put together from what the sub-session has')
  }
  record[key] = readRecord(found(sub, key), taskTable, context)
}

const developerSigns = ['status', 'changes', 'summary', 'files_created', 'files_modified', 'notes', 'task_id']

/** A sub-session's output as a developer's or a reviewer's; what is neither is kept beside as it is. */
export function readOutput(sub: Fields): void {
  const { record } = sub
  if (!Object.hasOwn(record, 'output')) return
  const value = isRecord(record['output']) ? record['output'] : {}
  const taskId = isRecord(record['task']) ? String(record['task']['task_id']) : ''
  const isReview = 'verdict' in value || 'findings' in value
  const isWork = developerSigns.some((sign) => sign in value)
  const reader = isReview ? reviewerOutput : isWork ? developerOutput : undefined
  const read = reader?.(found(sub, 'output'), taskId)
  if (read) record['output'] = read
  else setAside(sub, 'output', 'is neither a developer’s nor a reviewer’s output')
}

function messageSide(fields: Fields, key: string, { session, known }: Context): void {
  const { record, place, log } = fields
  const agent = agentIdentifier(found(fields, key), { position: known.size, known })
  if (agent) {
    record[key] = agent
    return
  }
  const { orchestrator: main } = session.record['collaboration'] as CollaborationInfo
  keepOriginal(fields, key, record[key])
  record[key] = { ...main }
  log(at(place, key), 'filled', `it was missing; ${main.agent_id} is put in`)
}

/** A message's payload; the older content and related_task_id become it. */
function messagePayload(fields: Fields): void {
  const { record, place, log } = fields
  if (!Object.hasOwn(record, 'payload')) {
    const content = record['content']
    record['payload'] = content === undefined ? {} : isRecord(content) ? { ...content } : { content }
    Reflect.deleteProperty(record, 'content')
    if (content === undefined) log(at(place, 'payload'), 'filled', 'it was missing; an empty one is put in')
    else log(at(place, 'payload'), 'renamed', 'content is read as the payload')
  }
  const { related_task_id: about, payload } = record
  if (about === undefined) return
  if (typeof about !== 'string' || !isRecord(payload)) {
    setAside(fields, 'related_task_id', 'cannot be put into the payload')
    return
  }
  Reflect.deleteProperty(record, 'related_task_id')
  if (payload['task_id'] === undefined) record['payload'] = { ...payload, task_id: about }
  log(at(at(place, 'payload'), 'task_id'), 'moved', 'related_task_id is read as the task of the payload')
}

/** The type of a message; an older status_update is progress of the task that it names, else a state. */
function messageType(fields: Fields, key: string): void {
  const { record } = fields
  const { payload } = record
  const isUpdate = record[key] === 'status_update'
  const namesTask = isRecord(payload) && typeof payload['task_id'] === 'string'
  word(fields, key, {
    allowed: MessageType.options,
    also: { status_update: namesTask ? 'task_progress' : 'status_response' },
    fallback: () => 'feedback',
  })
  if (!isUpdate || namesTask || !isRecord(payload) || typeof payload['state'] === 'string') return
  const state = textFrom(payload['status']) ?? textFrom(payload['content']) ?? 'reported'
  record['payload'] = { ...payload, state }
}

/** Numbers messages by their time when one of them has no usable number; else the file's numbers stay. */
function sequenceNumbers({ record, place, log }: Fields): void {
  const messages = record['messages'] as JsonRecord[]
  if (messages.every(({ sequence_number: number }) => isNumber(number))) return
  const inOrder = messages
    .map((message, position) => ({ message, position, at: millisOf(String(message['timestamp'])) }))
    .sort((a, b) => a.at - b.at || a.position - b.position)
  inOrder.forEach(({ message, position }, i) => {
    const before = message['sequence_number']
    if (before === i + 1) return
    if (before !== undefined && before !== null) message['original_sequence_number'] ??= before
    message['sequence_number'] = i + 1
    const there = at(at(at(place, 'messages'), position), 'sequence_number')
    log(there, 'filled', `${i + 1} is put in, from the order of time`)
  })
}

const isNumber = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0
