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
} from '../json/field-kinds.ts'
import { at, isRecord, type JsonRecord } from '../json/json-value.ts'
import {
  type Fields,
  type Found,
  fieldsOf,
  found,
  keepOriginal,
  rename,
  setAside,
  shown,
} from '../json/repair.ts'

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

/** The severities and what other writers call them. */
export const severities = {
  allowed: ['critical', 'major', 'minor', 'suggestion'],
  also: {
    blocker: 'critical',
    high: 'major',
    error: 'major',
    medium: 'minor',
    warning: 'minor',
    low: 'suggestion',
    info: 'suggestion',
    nit: 'suggestion',
  },
} as const

/** One finding of a review, flat; where it had a nested location, that is kept beside. */
export function finding(item: Found, position: number): JsonRecord | undefined {
  const described = textFrom(item.value)
  if (described !== undefined) item.log(item.place, 'lifted', 'a text is read as a finding')
  const fields = fieldsOf(described === undefined ? item : { ...item, value: { description: described } })
  if (!fields) return undefined
  rename(fields, 'finding_id', ['id', 'findingId'])
  id(fields, 'finding_id', () => `finding-${String(position + 1).padStart(3, '0')}`)
  word(fields, 'severity', { ...severities, fallback: () => 'minor' })
  word(fields, 'category', {
    allowed: ['bug', 'security', 'performance', 'style', 'logic', 'test'],
    also: {
      correctness: 'bug',
      error: 'bug',
      testing: 'test',
      tests: 'test',
      test_coverage: 'test',
      formatting: 'style',
      design: 'logic',
    },
    fallback: () => 'logic',
  })
  rename(fields, 'file', ['path', 'file_path'])
  location(fields)
  text(fields, 'file', () => '')
  amount(fields, 'line', { whole: true })
  rename(fields, 'description', ['message', 'title', 'issue'])
  text(fields, 'description', () => '')
  optionalText(fields, 'suggestion')
  optionalText(fields, 'rationale')
  amount(fields, 'fixed_in_iteration', { whole: true })
  return fields.record
}

function location(fields: Fields): void {
  const { record, place, log } = fields
  if (!Object.hasOwn(record, 'location')) return
  const value = record['location']
  if (!isRecord(value)) {
    const path = textFrom(value)
    if (path !== undefined && record['file'] === undefined) {
      record['file'] = path
      log(at(place, 'file'), 'lifted', 'the location is read as the file')
    }
    setAside(fields, 'location', 'is not an object')
    return
  }
  const inner = fieldsOf(found(fields, 'location'))
  if (!inner) return
  optionalText(inner, 'file')
  amount(inner, 'line_start', { whole: true })
  amount(inner, 'line_end', { whole: true })
  optionalText(inner, 'code_snippet')
  record['location'] = inner.record
  if (record['file'] === undefined && inner.record['file'] !== undefined) {
    record['file'] = inner.record['file']
    log(at(place, 'file'), 'lifted', 'the file of the location is read as the file')
  }
  if (record['line'] === undefined && inner.record['line_start'] !== undefined) {
    record['line'] = inner.record['line_start']
    log(at(place, 'line'), 'lifted', 'the first line of the location is read as the line')
  }
}

const names = { tests_passed: 'tests', type_check_passed: 'type_check' } as const

/** The reviewer's checks as booleans. A check nobody spoke of did not pass. */
export function verification(output: Fields): void {
  const { record, place, log } = output
  const value = record['verification']
  if (!isRecord(value)) {
    if (value !== undefined) keepOriginal(output, 'verification', value)
    record['verification'] = {}
    log(at(place, 'verification'), 'filled', 'it was missing; a check nobody spoke of did not pass')
  }
  const fields = fieldsOf(found(output, 'verification'))
  if (!fields) return
  const checks = fields.record
  if (hasResults(checks)) keepOriginal(output, 'verification', value)
  for (const [flag, name] of Object.entries(names)) passed(fields, flag, name)
  custom(fields)
  record['verification'] = checks
}

/** Whether checks are told as results with what they printed, which booleans cannot hold. */
function hasResults(checks: JsonRecord): boolean {
  const known = [...Object.keys(names), ...Object.values(names), 'lint'].map((key) => checks[key])
  const custom = [checks['custom_checks'], checks['custom']].flatMap((list) =>
    isRecord(list) ? Object.values(list) : [],
  )
  return [...known, ...custom].some(isRecord)
}

function passed({ record, place, log }: Fields, flag: string, name: string): void {
  if (typeof record[flag] === 'boolean') return
  const given = record[flag] ?? record[name]
  record[flag] = flagFrom(given) ?? false
  Reflect.deleteProperty(record, name)
  log(
    at(place, flag),
    given === undefined ? 'filled' : 'converted',
    `${shown(given)} is read as ${String(record[flag])}`,
  )
}

function custom({ record, place, log }: Fields): void {
  const lint = flagFrom(record['lint'])
  const given = record['custom_checks'] ?? record['custom']
  if ((given === undefined || given === null) && lint === undefined) {
    if (Reflect.deleteProperty(record, 'custom_checks') && given === null)
      log(at(place, 'custom_checks'), 'dropped', 'there are no checks')
    return
  }
  const isPlain = isRecord(given) && Object.values(given).every((value) => typeof value === 'boolean')
  if (isPlain && lint === undefined && Object.hasOwn(record, 'custom_checks')) return
  const checks = Object.entries(isRecord(given) ? given : {}).map(([key, value]) => [
    key,
    flagFrom(value) ?? false,
  ])
  record['custom_checks'] = Object.fromEntries(lint === undefined ? checks : [...checks, ['lint', lint]])
  Reflect.deleteProperty(record, 'custom')
  if (lint !== undefined) Reflect.deleteProperty(record, 'lint')
  log(at(place, 'custom_checks'), 'converted', 'the results of the checks are read as true or false')
}
