import { at } from '../json/pointer.ts'
import { isRecord, type JsonRecord } from '../json/value.ts'
import { type Fields, type Found, fieldsOf, found, rename, setAside } from './fields.ts'
import { amount, id, optionalText, text, textFrom, word } from './values.ts'

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
