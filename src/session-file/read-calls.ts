import {
  CallInput,
  CallOutput,
  ContextContribution,
  type SessionStatus,
  SubagentInfo,
  ToolCall,
} from '../contract/session-file/agent-session.ts'
import { delegationTools } from '../contract/session-file/multi-agent-session.ts'
import { ToolCategory } from '../contract/values.ts'
import { toolCategory } from '../core/delegation/tool-category.ts'
import { flagFrom, text, textFrom, word } from '../core/json/field-kinds.ts'
import {
  fieldTable,
  liftText,
  numbered,
  type Row,
  readFields,
  readList,
  readRecord,
} from '../core/json/field-table.ts'
import { later, millisOf } from '../core/json/iso-time.ts'
import { at, isRecord, type JsonRecord } from '../core/json/json-value.ts'
import { type Fields, fieldsOf, found, keepOriginal, setAside, shown } from '../core/json/repair.ts'

/** Reads the calls of an owner that began at a time; one without a time began when the one before it ended. */
export function toolCalls(fields: Fields, startedAt: string): void {
  let after = startedAt
  readList(fields, 'tool_calls', {
    not: 'is not a list of calls',
    item: 'is not a call',
    read: (item, position) => {
      const named =
        item.value === ''
          ? item
          : liftText(item, 'a text is read as the name of a tool', (tool_name) => ({ tool_name }))
      const call = readRecord(named, callTable, { position, after })
      if (call) after = String(call['ended_at'])
      return call
    },
  })
}

const words = (status: SessionStatus, names: string): [string, SessionStatus][] =>
  names.split(' ').map((name) => [name, status])
const ended = [
  ...words('success', 'completed complete done ok succeeded successful finished passed approved closed'),
  ...words('failed', 'error errored failure fail cancelled canceled aborted abort killed abandoned'),
  ...words('failed', 'timeout timed_out rejected denied crashed interrupted'),
]
const open = [
  ...words('in_progress', 'running active working pending started starting spawned idle waiting'),
  ...words('in_progress', 'waiting_input queued partial open paused blocked'),
]

/** The status of a session or sub-session; a word nobody knows is read by whether there is an end. */
export const statusRow: Row<unknown> = {
  words: Object.fromEntries([...ended, ...open]),
  fallback: ({ completed_at }, _context, name) =>
    completed_at === undefined ? 'in_progress' : name === undefined ? 'success' : 'failed',
}

type Place = { readonly position: number; readonly after: string }

const contributionTable = fieldTable(ContextContribution, {
  type: { fallback: 'knowledge' },
  summary: { fallback: '' },
})

const breakdownTable = fieldTable(SubagentInfo.shape.tools_breakdown.unwrap().element, {
  tool_name: { fallback: 'unknown' },
  count: { fallback: 0 },
})

const subagentTable = fieldTable(SubagentInfo, {
  subagent_type: { fallback: 'unknown' },
  tools_breakdown: { read: breakdown },
})

const inputTable = fieldTable(CallInput, {})

const outputTable = fieldTable(CallOutput, {
  // A call that has an output is not still running.
  status: { words: Object.fromEntries(ended), fallback: ({ error }) => (error ? 'failed' : 'success') },
  result: { read: callResult },
  error: { read: errorText },
})

const callTable = fieldTable<Place>(ToolCall, {
  call_id: { fallback: numbered('tool') },
  tool_name: { fallback: 'unknown' },
  input: { read: callInput },
  started_at: { fallback: (_, { after }) => after },
  ended_at: {
    fallback: ({ started_at, duration_ms: ms }) =>
      later(String(started_at), typeof ms === 'number' && ms >= 0 ? ms : 0),
    notBefore: 'started_at',
  },
  duration_ms: {
    fallback: ({ started_at, ended_at }) => millisOf(String(ended_at)) - millisOf(String(started_at)),
  },
  tool_category: { read: category },
  output: { read: callOutput },
  context_contribution: {
    read: (fields, key) => {
      if (!Object.hasOwn(fields.record, key)) return
      const item = liftText(
        found(fields, key),
        'a text is read as the summary of a contribution',
        (summary) => ({ type: 'knowledge', summary }),
      )
      const read = readRecord(item, contributionTable, undefined)
      if (read) fields.record[key] = read
      else setAside(fields, key, 'cannot be read')
    },
  },
  subagent_info: { record: { table: subagentTable, not: 'cannot be read' } },
})

function category(fields: Fields): void {
  const { record, place, log } = fields
  const { tool_name, input } = record
  word(fields, 'tool_category', {
    allowed: ToolCategory.options,
    fallback: () => toolCategory(String(tool_name), isRecord(input) ? input['params'] : undefined),
  })
  const given = record['tool_category']
  if (!delegationTools.has(String(tool_name)) || given === 'interaction') return
  log(at(place, 'tool_category'), 'translated', `${shown(given)} of a delegating call is interaction`)
  keepOriginal(fields, 'tool_category', given)
  record['tool_category'] = 'interaction'
}

/** What went into a call; `params` is always there. */
function callInput(fields: Fields): void {
  const { record, place, log } = fields
  const value = record['input']
  const inner = fieldsOf(found(fields, 'input'))
  if (inner) {
    ownParams(inner)
    record['input'] = readFields(inner, inputTable, undefined)
  } else if (value === undefined || value === null) {
    record['input'] = { params: {} }
    log(at(place, 'input'), 'filled', 'it was missing; empty params are put in')
  } else {
    record['input'] = { params: { value } }
    log(at(place, 'input'), 'lifted', 'the input is read as the only parameter')
  }
}

/** Without `params` the other fields of an input are the parameters. */
function ownParams(input: Fields): void {
  const { record, place, log } = input
  if (isRecord(record['params'])) return
  if (Object.hasOwn(record, 'params')) setAside(input, 'params', 'is not an object')
  const rest = Object.entries(record).filter(
    ([key]) => !Object.hasOwn(CallInput.shape, key) && !key.startsWith('original_'),
  )
  for (const [key] of rest) Reflect.deleteProperty(record, key)
  record['params'] = Object.fromEntries(rest)
  log(at(place, 'params'), 'lifted', 'the fields of the input are read as its params')
}

/** What came out of a call; a text is what it displayed, and an error means it failed. */
function callOutput(fields: Fields): void {
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
  record['output'] = readFields(inner, outputTable, undefined)
}

function callResult({ record, place, log }: Fields): void {
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
    text(fields, 'error')
    return
  }
  keepOriginal(fields, 'error', value)
  record['error'] = message
  log(at(place, 'error'), 'lifted', 'the message of the error is read as the error')
}

/** How often a sub-agent used each tool: a list, or counts by name. */
function breakdown(fields: Fields, key: string): void {
  const { record, place, log } = fields
  if (!Object.hasOwn(record, key)) return
  const counts = record[key]
  if (isRecord(counts) && Object.values(counts).every((count) => typeof count === 'number')) {
    record[key] = Object.entries(counts).map(([tool_name, count]) => ({ tool_name, count }))
    log(at(place, key), 'lifted', 'counts by name are read as a list')
  }
  const items: unknown = record[key]
  if (!Array.isArray(items) || !items.every(isRecord)) {
    setAside(fields, key, 'is not a list of counts')
    return
  }
  record[key] = items.map((value: JsonRecord, i) =>
    readRecord({ value, place: at(at(place, key), i), log }, breakdownTable, undefined),
  )
}
