import {
  DeveloperOutput,
  FileChange,
  RequiredChange,
  ReviewerOutput,
  ReviewFinding,
  SelfReview,
  type Verification,
} from '../../contract/session-file/outputs.ts'
import { flagFrom, text, textFrom } from '../json/field-kinds.ts'
import { fieldTable, liftText, numbered, readFields, readRecord } from '../json/field-table.ts'
import { at, compact, isRecord, type JsonRecord } from '../json/json-value.ts'
import { type Fields, type Found, fieldsOf, found, keepOriginal, setAside, shown } from '../json/repair.ts'

/** Where an output is read: the task it is of. */
type Work = { readonly taskId: string }
type Item = { readonly position: number }

/** How a developer's task can end, and what other writers call it. */
export const developerStatuses = {
  allowed: DeveloperOutput.shape.status.options,
  also: {
    success: 'completed',
    done: 'completed',
    ok: 'completed',
    error: 'failed',
    in_progress: 'partial',
    blocked: 'partial',
  },
}

/** The verdicts and what other writers call them. */
export const verdicts = {
  allowed: ReviewerOutput.shape.verdict.options,
  also: {
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
  },
}

/** The severities and what other writers call them. */
export const severities = {
  allowed: ReviewFinding.shape.severity.options,
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
}

/** What a developer gave back; plain paths become file changes, notes become implementation_notes. */
export const developerOutput = (output: Found, taskId: string): JsonRecord | undefined =>
  readRecord(output, developerTable, { taskId })

/** What a reviewer gave back. A verdict nobody can read asks for changes: it must not count as an approval. */
export const reviewerOutput = (output: Found, taskId: string): JsonRecord | undefined =>
  readRecord(output, reviewerTable, { taskId })

const fileTable = fieldTable(FileChange, {
  path: { aliases: ['file', 'file_path', 'name'], read: (fields) => text(fields, 'path') },
  lines_added: { aliases: ['lines', 'additions'] },
  lines_removed: { aliases: ['deletions'] },
  description: { aliases: ['changes'] },
})

const selfReviewTable = fieldTable(SelfReview, {
  tests_run: { fallback: false },
  tests_passed: { fallback: false },
  type_check_passed: { fallback: false },
})

const developerTable = fieldTable<Work>(DeveloperOutput, {
  task_id: { fallback: (_, { taskId }) => taskId },
  status: { words: developerStatuses.also, fallback: 'partial' },
  summary: { aliases: ['message', 'description', 'result'], fallback: '' },
  implementation_notes: { aliases: ['notes'] },
  changes: { read: changes },
  self_review: { record: { table: selfReviewTable, not: 'is not an object' } },
})

const files = { not: 'is not a list of files', item: 'names no file', read: fileChange }
const changesTable = fieldTable(DeveloperOutput.shape.changes, {
  files_created: { list: files },
  files_modified: { list: files },
  files_deleted: { fallback: [] },
})

function changes(output: Fields): void {
  const { record, place, log } = output
  if (!isRecord(record['changes'])) {
    if (Object.hasOwn(record, 'changes')) setAside(output, 'changes', 'is not an object')
    const loose = changesTable.map(({ key }) => key).filter((key) => Object.hasOwn(record, key))
    record['changes'] = Object.fromEntries(loose.map((key) => [key, record[key]]))
    for (const key of loose) Reflect.deleteProperty(record, key)
    log(at(place, 'changes'), 'lifted', 'the changed files are put together from what the output has')
  }
  record['changes'] = readRecord(found(output, 'changes'), changesTable, undefined)
}

function fileChange(item: Found): JsonRecord | undefined {
  const fields = fieldsOf(liftText(item, 'a path is read as a file change', (path) => ({ path })))
  const names = ['path', 'file', 'file_path', 'name'].map((key) => fields?.record[key])
  const path = names.find((name) => name !== undefined && name !== null)
  return fields && textFrom(path) !== undefined ? readFields(fields, fileTable, undefined) : undefined
}

const findingTable = fieldTable<Item>(ReviewFinding, {
  finding_id: { aliases: ['id', 'findingId'], fallback: numbered('finding') },
  severity: { words: severities.also, fallback: 'minor' },
  category: {
    words: {
      correctness: 'bug',
      error: 'bug',
      testing: 'test',
      tests: 'test',
      test_coverage: 'test',
      formatting: 'style',
      design: 'logic',
    },
    fallback: 'logic',
  },
  location: { read: location },
  file: { aliases: ['path', 'file_path'], fallback: '' },
  description: { aliases: ['message', 'title', 'issue'], fallback: '' },
})

const locationTable = fieldTable(ReviewFinding.shape.location.unwrap(), {})

/** Where a finding is: flat, as the format has it; a nested location is kept beside. */
function location(fields: Fields): void {
  const { record, place, log } = fields
  if (!Object.hasOwn(record, 'location')) return
  const lift = (key: string, value: unknown, says: string) => {
    if (record[key] !== undefined || value === undefined) return
    record[key] = value
    log(at(place, key), 'lifted', says)
  }
  const inner = readRecord(found(fields, 'location'), locationTable, undefined)
  if (!inner) {
    lift('file', textFrom(record['location']), 'the location is read as the file')
    setAside(fields, 'location', 'is not an object')
    return
  }
  record['location'] = inner
  lift('file', inner['file'], 'the file of the location is read as the file')
  lift('line', inner['line_start'], 'the first line of the location is read as the line')
}

const changeTable = fieldTable<Item>(RequiredChange, {
  change_id: { aliases: ['id'], fallback: numbered('change') },
  priority: {
    words: {
      must: 'must_fix',
      high: 'must_fix',
      should: 'should_fix',
      medium: 'should_fix',
      could: 'consider',
      low: 'consider',
    },
    fallback: 'should_fix',
  },
  related_findings: { fallback: [] },
  description: { fallback: '' },
})

const reviewerTable = fieldTable<Work>(ReviewerOutput, {
  task_id: { fallback: (_, { taskId }) => taskId },
  review_id: { fallback: (record) => `review-${String(record['task_id'])}` },
  verdict: { words: verdicts.also, fallback: 'changes_requested' },
  summary: { aliases: ['message', 'description', 'notes'], fallback: '' },
  findings: {
    list: {
      not: 'is not a list',
      item: 'cannot be read',
      read: (item, position) => readRecord(described(item, 'a finding'), findingTable, { position }),
    },
  },
  verification: { read: verification },
  required_changes: {
    list: {
      not: 'is not a list',
      item: 'cannot be read',
      read: (item, position) => readRecord(described(item, 'a required change'), changeTable, { position }),
    },
  },
})

const described = (item: Found, what: string): Found =>
  liftText({ ...item, value: textFrom(item.value) ?? item.value }, `a text is read as ${what}`, (text) => ({
    description: text,
  }))

const checkNames = { tests_passed: 'tests', type_check_passed: 'type_check' } as const

/** The reviewer's checks as booleans. A check nobody spoke of did not pass. */
function verification(output: Fields): void {
  const { record, place, log } = output
  const value = record['verification']
  if (!isRecord(value)) {
    if (value !== undefined) keepOriginal(output, 'verification', value)
    record['verification'] = {}
    log(at(place, 'verification'), 'filled', 'it was missing; a check nobody spoke of did not pass')
  }
  const fields = fieldsOf(found(output, 'verification'))
  if (!fields) return
  if (hasResults(fields.record)) keepOriginal(output, 'verification', value)
  for (const [key, name] of Object.entries(checkNames)) passed(fields, key, name)
  customChecks(fields)
  record['verification'] = fields.record
}

/** Whether checks are told as results with what they printed, which booleans cannot hold. */
function hasResults(checks: JsonRecord): boolean {
  const known = [...Object.keys(checkNames), ...Object.values(checkNames), 'lint'].map((key) => checks[key])
  const custom = [checks['custom_checks'], checks['custom']].flatMap((list) =>
    isRecord(list) ? Object.values(list) : [],
  )
  return [...known, ...custom].some(isRecord)
}

function passed({ record, place, log }: Fields, key: string, name: string): void {
  if (typeof record[key] === 'boolean') return
  const given = record[key] ?? record[name]
  record[key] = flagFrom(given) ?? false
  Reflect.deleteProperty(record, name)
  const code = given === undefined ? 'filled' : 'converted'
  log(at(place, key), code, `${shown(given)} is read as ${String(record[key])}`)
}

function customChecks({ record, place, log }: Fields): void {
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

/** A check as it is held inside: whether it passed, null when nobody ran it, and what it printed. */
type CheckResult = { readonly passed: boolean | null; readonly output?: string; readonly error?: string }
export type CheckResults = {
  readonly tests: CheckResult
  readonly type_check: CheckResult
  readonly custom: Readonly<Record<string, CheckResult>>
}

/** The checks of a review with what they printed, where the file still has that beside its booleans. */
export function checkResults(output: ReviewerOutput): CheckResults {
  const { verification: checks, original_verification: told } = output
  const original = isRecord(told) ? told : {}
  const custom = isRecord(original['custom']) ? original['custom'] : {}
  const of = (key: keyof typeof checkNames) =>
    resultOf(checks[key], original[checkNames[key]] ?? original[key])
  const flags = Object.entries(checks.custom_checks ?? {})
  return {
    tests: of('tests_passed'),
    type_check: of('type_check_passed'),
    custom: Object.fromEntries(
      flags.map(([name, isPassed]) => [name, resultOf(isPassed, custom[name] ?? original[name])]),
    ),
  }
}

/** Whether a check did not run, which the booleans of a file cannot say. */
export const isUnverified = ({ tests, type_check, custom }: CheckResults): boolean =>
  [tests, type_check, ...Object.values(custom)].some(({ passed }) => passed === null)

/** The booleans of a file from results with what they printed; what did not run is never true. */
export function verificationOf({ tests, type_check, custom }: CheckResults): Verification {
  const checks = Object.entries(custom).map(([name, result]) => [name, result.passed === true] as const)
  return {
    tests_passed: tests.passed === true,
    type_check_passed: type_check.passed === true,
    ...(checks.length === 0 ? {} : { custom_checks: Object.fromEntries(checks) }),
  }
}

function resultOf(isPassed: boolean, told: unknown): CheckResult {
  const isUnrun = isRecord(told) && told['passed'] === null && !isPassed
  if (!isRecord(told) || (!isUnrun && flagFrom(told) !== isPassed)) return { passed: isPassed }
  const { output, error } = told
  return compact({
    passed: isUnrun ? null : isPassed,
    output: typeof output === 'string' ? output : undefined,
    error: typeof error === 'string' ? error : undefined,
  })
}
