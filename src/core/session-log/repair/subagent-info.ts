import { isRecord, type JsonRecord } from '../json/value.ts'
import { type Found, fieldsOf, rename, setAside } from './fields.ts'
import { amount, id, optionalText, text } from './values.ts'

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
