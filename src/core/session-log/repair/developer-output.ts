import { at } from '../json/pointer.ts'
import { isRecord, type JsonRecord } from '../json/value.ts'
import { type Fields, type Found, fieldsOf, found, keepOriginal, rename, setAside } from './fields.ts'
import { shown } from './log.ts'
import {
  amount,
  flagFrom,
  id,
  itemsOf,
  optionalText,
  optionalTexts,
  optionalWord,
  text,
  textFrom,
  word,
} from './values.ts'

/** How a developer's task can end, and what other writers call it. */
export const developerStatuses = {
  allowed: ['completed', 'partial', 'failed'],
  also: {
    success: 'completed',
    done: 'completed',
    ok: 'completed',
    error: 'failed',
    in_progress: 'partial',
    blocked: 'partial',
  },
} as const

/** What a developer gave back; plain paths become file changes, notes become implementation_notes. */
export function developerOutput(output: Found, taskId: string): JsonRecord | undefined {
  const fields = fieldsOf(output)
  if (!fields) return undefined
  id(fields, 'task_id', () => taskId)
  word(fields, 'status', { ...developerStatuses, fallback: () => 'partial' })
  rename(fields, 'summary', ['message', 'description', 'result'])
  text(fields, 'summary', () => '')
  rename(fields, 'implementation_notes', ['notes'])
  optionalText(fields, 'implementation_notes')
  changes(fields)
  selfReview(fields)
  optionalTexts(fields, 'blockers')
  optionalTexts(fields, 'suggestions')
  return fields.record
}

const lists = ['files_created', 'files_modified', 'files_deleted'] as const

function changes(output: Fields): void {
  const { record, place, log } = output
  if (!isRecord(record['changes'])) {
    if (Object.hasOwn(record, 'changes')) setAside(output, 'changes', 'is not an object')
    const loose = lists.filter((name) => Object.hasOwn(record, name))
    record['changes'] = Object.fromEntries(loose.map((name) => [name, record[name]]))
    for (const name of loose) Reflect.deleteProperty(record, name)
    log(at(place, 'changes'), 'lifted', 'the changed files are put together from what the output has')
  }
  const fields = fieldsOf(found(output, 'changes'))
  if (!fields) return
  for (const name of ['files_created', 'files_modified'] as const) fileChanges(fields, name)
  optionalTexts(fields, 'files_deleted')
  fillList(fields, 'files_deleted')
  record['changes'] = fields.record
}

function fileChanges(fields: Fields, key: string): void {
  const items = itemsOf(found(fields, key))
  if (!items && Object.hasOwn(fields.record, key)) setAside(fields, key, 'is not a list of files')
  if (!items) {
    fillList(fields, key)
    return
  }
  fields.record[key] = items.flatMap((item) => {
    const change = fileChange(item)
    if (!change) item.log(item.place, 'dropped', `${shown(item.value)} names no file`)
    return change ? [change] : []
  })
}

function fileChange(item: Found): JsonRecord | undefined {
  if (typeof item.value === 'string') {
    item.log(item.place, 'lifted', 'a path is read as a file change')
    return { path: item.value }
  }
  const fields = fieldsOf(item)
  if (!fields) return undefined
  rename(fields, 'path', ['file', 'file_path', 'name'])
  if (textFrom(fields.record['path']) === undefined) return undefined
  optionalText(fields, 'path')
  optionalWord(fields, 'change_type', ['created', 'modified', 'deleted'])
  rename(fields, 'lines_added', ['lines', 'additions'])
  rename(fields, 'lines_removed', ['deletions'])
  amount(fields, 'lines_added', { whole: true })
  amount(fields, 'lines_removed', { whole: true })
  rename(fields, 'description', ['changes'])
  optionalText(fields, 'description')
  return fields.record
}

function fillList(fields: Fields, key: string): void {
  if (Array.isArray(fields.record[key])) return
  fields.record[key] = []
  fields.log(at(fields.place, key), 'filled', 'it was missing; an empty list is put in')
}

function selfReview(output: Fields): void {
  const { record } = output
  if (!Object.hasOwn(record, 'self_review')) return
  const fields = fieldsOf(found(output, 'self_review'))
  if (!fields) {
    setAside(output, 'self_review', 'is not an object')
    return
  }
  for (const key of ['tests_run', 'tests_passed', 'type_check_passed']) {
    const value = fields.record[key]
    if (typeof value === 'boolean') continue
    const flag = flagFrom(value)
    keepOriginal(fields, key, value)
    fields.record[key] = flag ?? false
    fields.log(
      at(fields.place, key),
      flag === undefined ? 'filled' : 'converted',
      `${shown(value)} is read as ${flag ?? false}`,
    )
  }
  optionalTexts(fields, 'known_issues')
  record['self_review'] = fields.record
}
