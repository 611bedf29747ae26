import { MessageType } from '../contract/events/message.ts'
import type { AgentIdentifier } from '../contract/session-file/multi-agent-session.ts'
import { id, itemsOf, optionalText, textFrom, time, word } from '../core/json/field-kinds.ts'
import { millisOf } from '../core/json/iso-time.ts'
import { at, isRecord, type JsonRecord, type Place } from '../core/json/json-value.ts'
import {
  type Fields,
  type Found,
  fieldsOf,
  found,
  keepOriginal,
  type RepairLog,
  rename,
  setAside,
  shown,
} from '../core/json/repair.ts'
import { type AgentRegistry, agentIdentifier } from './read-agents.ts'

const types = {
  assignment: 'task_assignment',
  assign: 'task_assignment',
  task: 'task_assignment',
  delegation: 'task_assignment',
  progress: 'task_progress',
  completion: 'task_completion',
  task_complete: 'task_completion',
  task_result: 'task_completion',
  result: 'task_completion',
  review: 'review_request',
  review_response: 'review_result',
  question: 'feedback',
  query: 'status_query',
  status: 'status_response',
  cancel: 'abort',
  ack: 'acknowledgment',
  acknowledgement: 'acknowledgment',
} as const

type Context = { readonly session: Fields; readonly known: AgentRegistry; readonly position: number }

/** The messages of a session; a missing list is an empty one. */
export function messages(session: Fields, known: AgentRegistry): void {
  const { record, place, log } = session
  const items = itemsOf(found(session, 'messages'))
  if (!items) {
    if (Object.hasOwn(record, 'messages')) setAside(session, 'messages', 'is not a list of messages')
    log(at(place, 'messages'), 'filled', 'it was missing; an empty list is put in')
  }
  const read = (items ?? []).flatMap((item, position) => {
    const message = agentMessage(item, { session, known, position })
    if (!message) item.log(item.place, 'dropped', `${shown(item.value)} is not a message`)
    return message ? [message] : []
  })
  record['messages'] = read
  sequenceNumbers(read, { place: at(place, 'messages'), log })
}

function agentMessage(item: Found, { session, known, position }: Context): JsonRecord | undefined {
  const fields = fieldsOf(item)
  if (!fields) return undefined
  const { record } = fields
  rename(fields, 'message_id', ['id', 'messageId'])
  id(fields, 'message_id', () => `msg-${String(position + 1).padStart(3, '0')}`)
  rename(fields, 'timestamp', ['time', 'created_at', 'sent_at'])
  time(fields, 'timestamp', () => String(session.record['created_at']))
  const main = (session.record['collaboration'] as JsonRecord)['orchestrator'] as AgentIdentifier
  side(fields, { key: 'from_agent', others: ['from', 'sender'], known, main })
  side(fields, { key: 'to_agent', others: ['to', 'recipient', 'receiver'], known, main })
  rename(fields, 'message_type', ['type', 'messageType'])
  const isUpdate = record['message_type'] === 'status_update'
  messagePayload(fields)
  const payload = record['payload']
  const namesTask = isRecord(payload) && typeof payload['task_id'] === 'string'
  word(fields, 'message_type', {
    allowed: MessageType.options,
    also: { ...types, status_update: namesTask ? 'task_progress' : 'status_response' },
    fallback: () => 'feedback',
  })
  if (isUpdate && !namesTask && isRecord(payload) && typeof payload['state'] !== 'string')
    record['payload'] = {
      ...payload,
      state: textFrom(payload['status']) ?? textFrom(payload['content']) ?? 'reported',
    }
  optionalText(fields, 'correlation_id')
  optionalText(fields, 'reply_to')
  return record
}

type Side = {
  readonly key: 'from_agent' | 'to_agent'
  readonly others: readonly string[]
  readonly known: AgentRegistry
  readonly main: AgentIdentifier
}

function side(fields: Fields, { key, others, known, main }: Side): void {
  rename(fields, key, others)
  const agent = agentIdentifier(found(fields, key), { position: known.size, known })
  if (agent) {
    fields.record[key] = agent
    return
  }
  keepOriginal(fields, key, fields.record[key])
  fields.record[key] = { ...main }
  fields.log(at(fields.place, key), 'filled', `it was missing; ${main.agent_id} is put in`)
}

/** A message's payload; the older content and related_task_id become it. */
export function messagePayload(fields: Fields): void {
  const { record, place, log } = fields
  if (!Object.hasOwn(record, 'payload')) {
    const content = record['content']
    record['payload'] = content === undefined ? {} : isRecord(content) ? { ...content } : { content }
    Reflect.deleteProperty(record, 'content')
    const message =
      content === undefined ? 'it was missing; an empty one is put in' : 'content is read as the payload'
    log(at(place, 'payload'), content === undefined ? 'filled' : 'renamed', message)
  }
  const task = record['related_task_id']
  if (task === undefined) return
  const payload = record['payload']
  if (typeof task !== 'string' || !isRecord(payload)) {
    setAside(fields, 'related_task_id', 'cannot be put into the payload')
    return
  }
  Reflect.deleteProperty(record, 'related_task_id')
  if (payload['task_id'] === undefined) record['payload'] = { ...payload, task_id: task }
  log(at(at(place, 'payload'), 'task_id'), 'moved', 'related_task_id is read as the task of the payload')
}

type Numbering = { readonly place: Place; readonly log: RepairLog }

/** Numbers messages by their time when one of them has no usable number; else the file's numbers stand. */
export function sequenceNumbers(messages: readonly JsonRecord[], { place, log }: Numbering): void {
  if (messages.every(({ sequence_number: number }) => isNumber(number))) return
  const inOrder = messages
    .map((message, position) => ({ message, position, at: millisOf(String(message['timestamp'])) }))
    .sort((a, b) => a.at - b.at || a.position - b.position)
  inOrder.forEach(({ message, position }, i) => {
    const before = message['sequence_number']
    if (before === i + 1) return
    if (before !== undefined && before !== null) message['original_sequence_number'] ??= before
    message['sequence_number'] = i + 1
    log(at(at(place, position), 'sequence_number'), 'filled', `${i + 1} is put in, from the order of time`)
  })
}

const isNumber = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0
