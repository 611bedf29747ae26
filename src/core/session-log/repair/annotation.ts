import { PhaseAnnotation, PhaseType } from '../../../contract/formats/std-001/phase-annotation.ts'
import { loosen } from '../../../contract/formats/std-008/loosen.ts'
import { shapeFaults } from '../../../contract/formats/std-008/shape-faults.ts'
import { at } from '../json/pointer.ts'
import { isRecord, type JsonRecord } from '../json/value.ts'
import { type Fields, type Found, fieldsOf, found, keepOriginal, rename, setAside } from './fields.ts'
import { shown } from './log.ts'
import { optionalTime, time } from './times.ts'
import { id, itemsOf, optionalText, textFrom, word } from './values.ts'

/** The annotations of a session; they are optional, so what cannot be read is set aside. */
export function annotations(session: Fields): void {
  const { record } = session
  if (!Object.hasOwn(record, 'phase_annotations')) return
  const items = itemsOf(found(session, 'phase_annotations'))
  if (!items) {
    setAside(session, 'phase_annotations', 'is not a list of annotations')
    return
  }
  const unread: unknown[] = []
  record['phase_annotations'] = items.flatMap((item, position) => {
    const annotation = phaseAnnotation(item, { session, position })
    if (!annotation) {
      unread.push(item.value)
      item.log(
        item.place,
        'set_aside',
        `${shown(item.value)} covers no calls; it is kept as original_phase_annotations`,
      )
    }
    return annotation ? [annotation] : []
  })
  if (unread.length > 0) keepOriginal(session, 'phase_annotations', unread)
}

type Context = { readonly session: Fields; readonly position: number }

function phaseAnnotation(item: Found, { session, position }: Context): JsonRecord | undefined {
  const fields = fieldsOf(item)
  if (!fields) return undefined
  const { record } = fields
  if (!callRange(fields)) return undefined
  rename(fields, 'annotation_id', ['id'])
  id(fields, 'annotation_id', () => `annotation-${String(position + 1).padStart(3, '0')}`)
  rename(fields, 'phase_type', ['phase', 'type'])
  word(fields, 'phase_type', {
    allowed: PhaseType.options,
    also: {
      planning: 'plan',
      exploration: 'explore',
      execution: 'execute',
      implement: 'execute',
      verification: 'verify',
      test: 'verify',
    },
    fallback: () => 'unclassified',
  })
  word(fields, 'annotated_by', {
    allowed: ['agent', 'human', 'auto'],
    also: { user: 'human', system: 'auto' },
    fallback: () => 'agent',
  })
  optionalTime(fields, 'annotated_at')
  time(fields, 'annotated_at', () => String(session.record['completed_at'] ?? session.record['created_at']))
  confidence(fields)
  optionalText(fields, 'description')
  for (const key of ['decisions', 'context_used'] as const)
    fittingItems(fields, key, (value) => shapeFaults([value], itemSchemas[key]).length === 0)
  return record
}

const itemSchemas = {
  decisions: loosen(PhaseAnnotation.shape.decisions),
  context_used: loosen(PhaseAnnotation.shape.context_used),
}

/** Both ends of the range; an array of call ids has them first and last. */
function callRange({ record, place, log }: Fields): boolean {
  const range = record['tool_call_range'] ?? record['tool_call_ids'] ?? record['tool_calls']
  if (Array.isArray(range)) {
    const ids = range.map(textFrom).filter((call) => call !== undefined && call !== '')
    if (ids.length === 0) return false
    record['tool_call_range'] = { start_call_id: ids[0], end_call_id: ids.at(-1) }
    if (ids.length > 2) record['original_tool_call_range'] ??= range
    log(at(place, 'tool_call_range'), 'lifted', 'a list of calls is read as a range')
    return true
  }
  if (!isRecord(range)) return false
  const fields = fieldsOf(found({ record, place, log }, 'tool_call_range'))
  if (!fields) return false
  rename(fields, 'start_call_id', ['start', 'from', 'first'])
  rename(fields, 'end_call_id', ['end', 'to', 'last'])
  const start = textFrom(fields.record['start_call_id']) ?? textFrom(fields.record['end_call_id'])
  if (start === undefined || start === '') return false
  id(fields, 'start_call_id', () => start)
  id(fields, 'end_call_id', () => start)
  record['tool_call_range'] = fields.record
  return true
}

function confidence(fields: Fields): void {
  const value = fields.record['confidence']
  const level =
    typeof value === 'number' ? (value >= 0.75 ? 'high' : value >= 0.4 ? 'medium' : 'low') : undefined
  word(fields, 'confidence', { allowed: ['high', 'medium', 'low'], fallback: () => level ?? 'medium' })
}

/** Keeps the items of a list that fit, and the rest beside. */
function fittingItems(fields: Fields, key: string, fits: (value: unknown) => boolean): void {
  const value = fields.record[key]
  if (!Object.hasOwn(fields.record, key)) return
  if (!Array.isArray(value)) {
    setAside(fields, key, 'is not a list')
    return
  }
  const unfit = value.filter((item) => !fits(item))
  if (unfit.length === 0) return
  fields.record[key] = value.filter(fits)
  keepOriginal(fields, key, unfit)
  fields.log(
    at(fields.place, key),
    'set_aside',
    `${unfit.length} items do not fit; they are kept as original_${key}`,
  )
}
