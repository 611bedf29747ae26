import { at } from '../json/pointer.ts'
import { isRecord } from '../json/value.ts'
import { type Fields, fieldsOf, found, rename, setAside } from './fields.ts'
import { id, optionalTexts, text, textFrom, word } from './values.ts'

const priorities = {
  critical: 'high',
  urgent: 'high',
  highest: 'high',
  p0: 'high',
  p1: 'high',
  normal: 'medium',
  default: 'medium',
  p2: 'medium',
  lowest: 'low',
  minor: 'low',
  p3: 'low',
} as const

/** The task of a sub-session, from an object or a bare description. */
export function taskAssignment(sub: Fields, fallbackId: string): void {
  const { record, place, log } = sub
  rename(sub, 'task', ['task_assignment', 'assignment'])
  const value = record['task']
  if (!isRecord(value)) {
    const described = textFrom(value)
    if (described === undefined && Object.hasOwn(record, 'task')) setAside(sub, 'task', 'is not a task')
    record['task'] = {
      ...(described === undefined ? {} : { description: described }),
      ...(typeof record['task_id'] === 'string' ? { task_id: record['task_id'] } : {}),
    }
    log(at(place, 'task'), 'lifted', 'the task is put together from what the sub-session has')
  }
  const fields = fieldsOf(found(sub, 'task'))
  if (!fields) return
  rename(fields, 'task_id', ['id', 'taskId'])
  id(fields, 'task_id', () => fallbackId)
  rename(fields, 'description', ['task_description', 'title', 'prompt', 'summary'])
  text(fields, 'description', () => '')
  word(fields, 'priority', { allowed: ['high', 'medium', 'low'], also: priorities, fallback: () => 'medium' })
  rename(fields, 'dependencies', ['depends_on'])
  optionalTexts(fields, 'dependencies')
  record['task'] = fields.record
}
