import { ContributionType } from '../../../contract/formats/std-001/tool-call.ts'
import { delegationTools } from '../../../contract/formats/std-008/delegation.ts'
import { ToolCategory } from '../../../contract/values.ts'
import { at } from '../json/pointer.ts'
import { later, millisOf } from '../json/time.ts'
import { isRecord, type JsonRecord } from '../json/value.ts'
import { toolCategory } from '../tool-category.ts'
import { callInput } from './call-input.ts'
import { callOutput } from './call-output.ts'
import { type Fields, type Found, fieldsOf, found, rename, setAside } from './fields.ts'
import { shown } from './log.ts'
import { subagentInfo } from './subagent-info.ts'
import { endNotBefore, time } from './times.ts'
import { amount, id, itemsOf, nested, optionalFlag, optionalText, text, word } from './values.ts'

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
