import { at } from '../json/pointer.ts'
import { isRecord } from '../json/value.ts'
import { type Fields, fieldsOf, found, keepOriginal } from './fields.ts'
import { statusWords } from './status-words.ts'
import { flagFrom, optionalFlag, optionalText, textFrom, word } from './values.ts'

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
