import { at } from '../json/pointer.ts'
import { isRecord, type JsonRecord } from '../json/value.ts'
import { type Fields, fieldsOf, found, keepOriginal } from './fields.ts'
import { shown } from './log.ts'
import { flagFrom } from './values.ts'

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
