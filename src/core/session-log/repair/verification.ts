import { at } from '../json/pointer.ts'
import { isRecord, type JsonRecord } from '../json/value.ts'
import { type Fields, fieldsOf, found, keepOriginal } from './fields.ts'
import { shown } from './log.ts'
import { flagFrom } from './values.ts'

/** A check's result as it is held inside: whether it passed, and what it printed. */
export type CheckResult = { readonly passed: boolean; readonly output?: string; readonly error?: string }

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
  const hasResults = Object.values(checks).some(isRecord) && !flagsOnly(checks['custom_checks'], checks)
  if (hasResults) keepOriginal(output, 'verification', value)
  for (const [flag, name] of Object.entries(names)) passed(fields, flag, name)
  custom(fields)
  record['verification'] = checks
}

function flagsOnly(custom: unknown, checks: JsonRecord): boolean {
  const others = Object.entries(checks).filter(([key]) => key !== 'custom_checks')
  const areFlags = isRecord(custom) && Object.values(custom).every((value) => typeof value === 'boolean')
  return areFlags && !others.some(([, value]) => isRecord(value))
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
  if (given === undefined && lint === undefined) return
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
