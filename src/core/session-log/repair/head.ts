import { AppError } from '../../../contract/errors.ts'
import { at, pointerOf } from '../json/pointer.ts'
import { isRecord, type JsonRecord } from '../json/value.ts'
import { type Fields, fieldsOf, found, rename, setAside } from './fields.ts'
import { sessionStatus } from './status-words.ts'
import { endNotBefore, optionalTime, time, timeFrom } from './times.ts'
import { id, optionalText, text, textFrom } from './values.ts'

/** The fields of a session that are not lists: who, what, when, how it stands. */
export function sessionHead(fields: Fields, filename: string | undefined): void {
  const { record } = fields
  rename(fields, 'task_title', ['title', 'name'])
  rename(fields, 'session_id', ['id', 'sessionId'])
  rename(fields, 'created_at', ['started_at', 'start_time', 'createdAt', 'date'])
  rename(fields, 'completed_at', ['ended_at', 'end_time', 'completedAt', 'finished_at'])
  time(fields, 'created_at', () => earliest(fields, filename))
  const day = String(record['created_at']).slice(0, 10)
  const stem = filename?.replace(/^.*[/\\]/, '').replace(/\.json$/, '')
  id(fields, 'session_id', () => stem || `${day}-000-session`)
  text(fields, 'task_title', () => titleFrom(record))
  optionalText(fields, 'task_description')
  text(fields, 'user_prompt', () => '')
  optionalTime(fields, 'completed_at')
  optionalTime(fields, 'updated_at')
  endNotBefore(fields, 'created_at', 'completed_at')
  sessionStatus(fields)
  optionalText(fields, 'termination_reason')
  modelOf(fields)
}

function modelOf(fields: Fields): void {
  const { record, place, log } = fields
  const value = record['agent']
  const name = textFrom(value) ?? textFrom(record['model']) ?? textFrom(record['model_id'])
  if (!isRecord(value)) {
    if (typeof value === 'object' && value !== null) setAside(fields, 'agent', 'is not an object')
    record['agent'] = name === undefined ? {} : { model_id: name }
    log(at(place, 'agent'), 'lifted', name === undefined ? 'it was missing' : 'a name is read as the model')
  }
  const inner = fieldsOf(found(fields, 'agent'))
  if (!inner) return
  rename(inner, 'model_id', ['model', 'id', 'name'])
  text(inner, 'model_id', () => 'unknown')
  optionalText(inner, 'capability_snapshot')
  record['agent'] = inner.record
}

/** A session without a beginning takes the earliest time the file gives anywhere; one without any is refused. */
function earliest({ record, place }: Fields, filename: string | undefined): string {
  const lists = ['tool_calls', 'phases', 'steps', 'messages', 'sub_sessions'].map((key) => record[key])
  const times = lists
    .flatMap((list) => (Array.isArray(list) ? list.filter(isRecord) : []))
    .flatMap((item) => [item['started_at'], item['timestamp'], item['created_at']])
    .flatMap((value) => timeFrom(value) ?? [])
  const first = times.reduce<string | undefined>(
    (best, each) => (best === undefined || Date.parse(each) < Date.parse(best) ? each : best),
    undefined,
  )
  const named = /\d{4}-\d\d-\d\d/.exec(`${textFrom(record['session_id']) ?? ''} ${filename ?? ''}`)?.[0]
  const start = first ?? timeFrom(record['updated_at'] ?? record['completed_at']) ?? timeFrom(named)
  if (start !== undefined) return start
  throw new AppError(
    'invalid',
    'the session says nowhere when it began: give it created_at, like "2026-01-26T10:00:00Z"',
    { details: { path: pointerOf(at(place, 'created_at')) } },
  )
}

function titleFrom(record: JsonRecord): string {
  const described = textFrom(record['task_description']) ?? textFrom(record['user_prompt'])
  const line = described?.split('\n')[0]?.trim()
  return line ? line.slice(0, 120) : String(record['session_id'])
}
