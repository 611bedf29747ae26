import { ContributionType, type SessionStatus } from '../contract/session-file/agent-session.ts'
import { delegationTools } from '../contract/session-file/multi-agent-session.ts'
import { ToolCategory } from '../contract/values.ts'
import { toolCategory } from '../core/delegation/tool-category.ts'
import {
  amount,
  endNotBefore,
  flagFrom,
  id,
  itemsOf,
  nested,
  optionalFlag,
  optionalText,
  text,
  textFrom,
  time,
  word,
} from '../core/json/field-kinds.ts'
import { later, millisOf } from '../core/json/iso-time.ts'
import { at, isRecord, type JsonRecord } from '../core/json/json-value.ts'
import {
  type Fields,
  type Found,
  fieldsOf,
  found,
  keepOriginal,
  rename,
  setAside,
  shown,
} from '../core/json/repair.ts'

/** The calls of an owner that began at a time; a missing list is an empty one. */
export function toolCalls(fields: Fields, startedAt: string): void {
  const { record, place, log } = fields
  const items = itemsOf(found(fields, 'tool_calls'))
  if (!items) {
    if (Object.hasOwn(record, 'tool_calls')) setAside(fields, 'tool_calls', 'is not a list of calls')
    record['tool_calls'] = []
    log(at(place, 'tool_calls'), 'filled', 'it was missing; an empty list is put in')
    return
  }
  let after = startedAt
  record['tool_calls'] = items.flatMap((item, i) => {
    const call = toolCall(item, { position: i, after })
    if (!call) {
      item.log(item.place, 'dropped', `${shown(item.value)} is not a call`)
      return []
    }
    after = call['ended_at'] as string
    return [call]
  })
}

type Context = { readonly position: number; readonly after: string }

function toolCall(item: Found, { position, after }: Context): JsonRecord | undefined {
  const fields = fieldsOf(liftedName(item))
  if (!fields) return undefined
  const { record } = fields
  rename(fields, 'call_id', ['id', 'tool_call_id', 'tool_use_id', 'callId'])
  id(fields, 'call_id', () => `tool-${String(position + 1).padStart(3, '0')}`)
  rename(fields, 'tool_name', ['tool', 'name', 'toolName'])
  id(fields, 'tool_name', () => 'unknown')
  callInput(fields)
  callTimes(fields, after)
  callCategory(fields)
  callOutput(fields)
  contribution(fields)
  if (Object.hasOwn(record, 'subagent_info')) nested(fields, 'subagent_info', subagentInfo)
  optionalText(fields, 'original_tool_name')
  optionalFlag(fields, 'open')
  return record
}

function liftedName(item: Found): Found {
  if (typeof item.value !== 'string' || item.value === '') return item
  item.log(item.place, 'lifted', 'a text is read as the name of a tool')
  return { ...item, value: { tool_name: item.value } }
}

function callTimes(fields: Fields, after: string): void {
  const { record } = fields
  rename(fields, 'started_at', ['timestamp', 'start_time', 'startedAt', 'time', 'created_at'])
  rename(fields, 'ended_at', ['completed_at', 'end_time', 'endedAt', 'finished_at'])
  time(fields, 'started_at', () => after)
  const start = record['started_at'] as string
  const declared = record['duration_ms']
  const ms = typeof declared === 'number' && declared >= 0 ? declared : 0
  time(fields, 'ended_at', () => later(start, ms))
  endNotBefore(fields, 'started_at', 'ended_at')
  amount(fields, 'duration_ms', { fallback: () => millisOf(record['ended_at'] as string) - millisOf(start) })
}

function callCategory(fields: Fields): void {
  const { record, place, log } = fields
  const tool = record['tool_name'] as string
  const input = record['input']
  rename(fields, 'tool_category', ['category', 'toolCategory'])
  word(fields, 'tool_category', {
    allowed: ToolCategory.options,
    fallback: () => toolCategory(tool, isRecord(input) ? input['params'] : undefined),
  })
  if (!delegationTools.has(tool) || record['tool_category'] === 'interaction') return
  log(
    at(place, 'tool_category'),
    'translated',
    `${shown(record['tool_category'])} of a delegating call is interaction`,
  )
  record['original_tool_category'] ??= record['tool_category']
  record['tool_category'] = 'interaction'
}

function contribution(fields: Fields): void {
  const { record } = fields
  if (!Object.hasOwn(record, 'context_contribution')) return
  nested(fields, 'context_contribution', ({ value, place, log }) => {
    if (typeof value === 'string') {
      log(place, 'lifted', 'a text is read as the summary of a contribution')
      return { type: 'knowledge', summary: value }
    }
    const inner = fieldsOf({ value, place, log })
    if (!inner) return undefined
    word(inner, 'type', { allowed: ContributionType.options, fallback: () => 'knowledge' })
    text(inner, 'summary', () => '')
    optionalText(inner, 'full_content')
    return inner.record
  })
}

const outside = ['params', 'arguments', 'args', 'tool_input'] as const
const documented = ['params', 'description', 'raw_command']

/** What went into a call, wherever the file has it; `params` is always there. */
export function callInput(fields: Fields): void {
  const { record, place, log } = fields
  const name = outside.find((key) => isRecord(record[key]))
  if (!Object.hasOwn(record, 'input') && name) {
    record['input'] = { params: record[name] }
    Reflect.deleteProperty(record, name)
    log(at(place, 'input'), 'moved', `${name} is read as the params of the input`)
  }
  const value = record['input']
  if (isRecord(value)) record['input'] = mended(fields)
  else if (value === undefined || value === null) {
    record['input'] = { params: {} }
    log(at(place, 'input'), 'filled', 'it was missing; empty params are put in')
  } else {
    record['input'] = { params: { value } }
    log(at(place, 'input'), 'lifted', 'the input is read as the only parameter')
  }
}

function mended(fields: Fields): JsonRecord {
  const inner = fieldsOf(found(fields, 'input'))
  if (!inner) return { params: {} }
  const { record, place, log } = inner
  if (Object.hasOwn(record, 'params') && !isRecord(record['params']))
    setAside(inner, 'params', 'is not an object')
  if (!isRecord(record['params'])) {
    // Without `params` the other fields are the parameters.
    const rest = Object.entries(record).filter(
      ([key]) => !documented.includes(key) && !key.startsWith('original_'),
    )
    for (const [key] of rest) Reflect.deleteProperty(record, key)
    record['params'] = Object.fromEntries(rest)
    log(at(place, 'params'), 'lifted', 'the fields of the input are read as its params')
  }
  optionalText(inner, 'description')
  optionalText(inner, 'raw_command')
  return record
}

const good = 'completed complete done ok succeeded successful finished passed approved closed'.split(' ')
const bad =
  'error errored failure fail cancelled canceled aborted abort killed abandoned timeout timed_out rejected denied crashed interrupted'.split(
    ' ',
  )
const open =
  'running active working pending started starting spawned idle waiting waiting_input queued partial open paused blocked'.split(
    ' ',
  )

/** Other words for how a session stands. */
export const statusWords: Readonly<Record<string, SessionStatus>> = Object.fromEntries([
  ...good.map((name) => [name, 'success'] as const),
  ...bad.map((name) => [name, 'failed'] as const),
  ...open.map((name) => [name, 'in_progress'] as const),
])

/** The status of a session or sub-session; a word nobody knows is read by whether there is an end. */
export function sessionStatus(fields: Fields): void {
  const hasEnded = fields.record['completed_at'] !== undefined
  word(fields, 'status', {
    allowed: ['success', 'failed', 'in_progress'],
    also: statusWords,
    fallback: (name) => (hasEnded ? (name === undefined ? 'success' : 'failed') : 'in_progress'),
  })
}

/** The words for how something ended; a call that has an output is not still running. */
const ended = Object.fromEntries(
  Object.entries(statusWords).filter(([, status]) => status !== 'in_progress'),
) as Readonly<Record<string, 'success' | 'failed'>>

/** What came out of a call; a text is what it displayed, and an error means it failed. */
export function callOutput(fields: Fields): void {
  const { record, place, log } = fields
  const value = record['output']
  if (!isRecord(value)) {
    const given = value ?? record['result']
    const isOutside = (value === undefined || value === null) && Object.hasOwn(record, 'result')
    if (isOutside) Reflect.deleteProperty(record, 'result')
    const had = given === undefined || given === null ? {} : { result: given }
    record['output'] = typeof record['error'] === 'string' ? { ...had, error: record['error'] } : had
    log(at(place, 'output'), 'lifted', 'the output is put together from what the call has')
  }
  const inner = fieldsOf(found(fields, 'output'))
  if (!inner) return
  if (!Object.hasOwn(inner.record, 'status')) {
    const success = flagFrom(inner.record['success'] ?? record['status'])
    if (success !== undefined) inner.record['status'] = success ? 'success' : 'failed'
  }
  word(inner, 'status', {
    allowed: ['success', 'failed'],
    also: ended,
    fallback: () => (inner.record['error'] ? 'failed' : 'success'),
  })
  result(inner)
  errorText(inner)
  optionalFlag(inner, 'truncated')
  record['output'] = inner.record
}

function result({ record, place, log }: Fields): void {
  const value = record['result']
  if (isRecord(value) || !Object.hasOwn(record, 'result')) return
  if (value === null || value === undefined) {
    Reflect.deleteProperty(record, 'result')
    log(at(place, 'result'), 'dropped', 'there is no result')
    return
  }
  record['result'] = typeof value === 'string' ? { display: value } : { value }
  log(at(place, 'result'), 'lifted', 'the result is read as what the call displayed')
}

function errorText(fields: Fields): void {
  const { record, place, log } = fields
  const value = record['error']
  const message = isRecord(value) ? textFrom(value['message']) : undefined
  if (message === undefined) {
    optionalText(fields, 'error')
    return
  }
  keepOriginal(fields, 'error', value)
  record['error'] = message
  log(at(place, 'error'), 'lifted', 'the message of the error is read as the error')
}

/** What a delegating call says of its sub-agent. */
export function subagentInfo(found: Found): JsonRecord | undefined {
  const fields = fieldsOf(found)
  if (!fields) return undefined
  const { record } = fields
  rename(fields, 'subagent_type', ['agent_type', 'type'])
  text(fields, 'subagent_type', () => 'unknown')
  rename(fields, 'tool_uses', ['tool_calls_count', 'tool_count'])
  amount(fields, 'tool_uses', { whole: true })
  rename(fields, 'tokens_used', ['tokens', 'total_tokens'])
  amount(fields, 'tokens_used', { whole: true })
  optionalText(fields, 'sub_session_id')
  if (record['sub_session_id'] === '') setAside(fields, 'sub_session_id', 'names nothing')
  optionalText(fields, 'original_sub_session_id')
  breakdown(fields)
  return record
}

function breakdown(fields: NonNullable<ReturnType<typeof fieldsOf>>): void {
  const { record, place, log } = fields
  const list = record['tools_breakdown']
  if (list === undefined && !Object.hasOwn(record, 'tools_breakdown')) return
  if (isRecord(list) && Object.values(list).every((count) => typeof count === 'number')) {
    record['tools_breakdown'] = Object.entries(list).map(([tool_name, count]) => ({ tool_name, count }))
    log({ parent: place, key: 'tools_breakdown' }, 'lifted', 'counts by name are read as a list')
  }
  const items = record['tools_breakdown']
  if (!Array.isArray(items) || !items.every(isRecord)) {
    setAside(fields, 'tools_breakdown', 'is not a list of counts')
    return
  }
  record['tools_breakdown'] = items.map((value, i) => {
    const parent = { parent: place, key: 'tools_breakdown' }
    const item = { record: { ...value }, place: { parent, key: i }, log }
    rename(item, 'tool_name', ['tool', 'name'])
    id(item, 'tool_name', () => 'unknown')
    amount(item, 'count', { whole: true, fallback: () => 0 })
    return item.record
  })
}
