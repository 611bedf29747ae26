import { at } from '../json/pointer.ts'
import { isRecord, type JsonRecord } from '../json/value.ts'
import { type Fields, type Found, fieldsOf, found, rename, setAside } from './fields.ts'
import { finding } from './finding.ts'
import { shown } from './log.ts'
import { id, itemsOf, optionalTexts, text, textFrom, word } from './values.ts'
import { verification } from './verification.ts'

const otherVerdicts = {
  approve: 'approved',
  pass: 'approved',
  passed: 'approved',
  accepted: 'approved',
  lgtm: 'approved',
  ok: 'approved',
  supported: 'approved',
  request_changes: 'changes_requested',
  changes_required: 'changes_requested',
  needs_changes: 'changes_requested',
  needs_work: 'changes_requested',
  inconclusive: 'changes_requested',
  reject: 'rejected',
  fail: 'rejected',
  failed: 'rejected',
  refuted: 'rejected',
} as const

/** The verdicts and what other writers call them. */
export const verdicts = {
  allowed: ['approved', 'changes_requested', 'rejected'],
  also: otherVerdicts,
} as const

/** What a reviewer gave back. A verdict nobody can read asks for changes: it must not count as an approval. */
export function reviewerOutput(output: Found, taskId: string): JsonRecord | undefined {
  const fields = fieldsOf(output)
  if (!fields) return undefined
  const { record } = fields
  id(fields, 'task_id', () => taskId)
  id(fields, 'review_id', () => `review-${String(record['task_id'])}`)
  word(fields, 'verdict', { ...verdicts, fallback: () => 'changes_requested' })
  rename(fields, 'summary', ['message', 'description', 'notes'])
  text(fields, 'summary', () => '')
  records(fields, 'findings', finding)
  if (!Array.isArray(record['findings'])) {
    record['findings'] = []
    fields.log(at(fields.place, 'findings'), 'filled', 'it was missing; an empty list is put in')
  }
  verification(fields)
  if (Object.hasOwn(record, 'required_changes')) records(fields, 'required_changes', requiredChange)
  optionalTexts(fields, 'commendations')
  return record
}

function records(
  fields: Fields,
  key: string,
  repair: (item: Found, position: number) => JsonRecord | undefined,
): void {
  const items = itemsOf(found(fields, key))
  if (!items) {
    if (Object.hasOwn(fields.record, key)) setAside(fields, key, 'is not a list')
    return
  }
  fields.record[key] = items.flatMap((item, i) => {
    const read = repair(item, i)
    if (!read) item.log(item.place, 'dropped', `${shown(item.value)} cannot be read`)
    return read ? [read] : []
  })
}

function requiredChange(item: Found, position: number): JsonRecord | undefined {
  const described = textFrom(item.value)
  if (described !== undefined) item.log(item.place, 'lifted', 'a text is read as a required change')
  const fields = fieldsOf(described === undefined ? item : { ...item, value: { description: described } })
  if (!fields || !isRecord(fields.record)) return undefined
  rename(fields, 'change_id', ['id'])
  id(fields, 'change_id', () => `change-${String(position + 1).padStart(3, '0')}`)
  word(fields, 'priority', {
    allowed: ['must_fix', 'should_fix', 'consider'],
    also: {
      must: 'must_fix',
      high: 'must_fix',
      should: 'should_fix',
      medium: 'should_fix',
      could: 'consider',
      low: 'consider',
    },
    fallback: () => 'should_fix',
  })
  optionalTexts(fields, 'related_findings')
  if (!Array.isArray(fields.record['related_findings'])) {
    fields.record['related_findings'] = []
    fields.log(at(fields.place, 'related_findings'), 'filled', 'it was missing; an empty list is put in')
  }
  text(fields, 'description', () => '')
  return fields.record
}
