import { AppError } from '../contract/errors.ts'
import type { AgentSession } from '../contract/session-file/agent-session.ts'
import {
  type MultiAgentSession,
  MultiAgentSessionSummary,
} from '../contract/session-file/multi-agent-session.ts'
import {
  amount,
  endNotBefore,
  id,
  optionalText,
  optionalTime,
  optionalWord,
  text,
  textFrom,
  texts,
  time,
  timeFrom,
} from '../core/json/field-kinds.ts'
import { later, millisOf } from '../core/json/iso-time.ts'
import {
  at,
  hasPrototypeKey,
  isRecord,
  type JsonRecord,
  maxNesting,
  pointer,
  pointerOf,
  root,
  tooDeep,
  withoutPrototypeKeys,
} from '../core/json/json-value.ts'
import {
  collectRepairs,
  type Fields,
  fieldsOf,
  found,
  keepOriginal,
  type Repair,
  type RepairLog,
  rename,
  setAside,
} from '../core/json/repair.ts'
import { filesChangedBy } from './changed-files.ts'
import { extendedSummary } from './figures.ts'
import { asMultiAgent } from './multi-agent.ts'
import { collaboration } from './read-agents.ts'
import { sessionStatus, toolCalls } from './read-calls.ts'
import { messages } from './read-messages.ts'
import { annotations, isLegacy, keepPhases, liftAnnotations, liftCalls } from './read-phases.ts'
import { subSessions } from './read-sub-sessions.ts'
import { mendAnnotations, mendLinks, uniqueAnnotationIds } from './repair-links.ts'
import { callIds } from './session-index.ts'
import { loosen } from './shape.ts'
import { validateSession } from './validate.ts'

/** Which format a file was in before it was read. */
export type SessionKind = 'std-001-v3' | 'std-001-v2' | 'std-008'

/** A session that passes the validator, and everything that was done to it. */
export type ReadSession = {
  readonly session: AgentSession | MultiAgentSession
  readonly repairs: readonly Repair[]
  readonly kind: SessionKind
}

/** Reads a session of any version and drift; what cannot become a valid session is refused with the place. */
export function readSession(json: unknown, { filename }: { readonly filename?: string } = {}): ReadSession {
  const { log, repairs } = collectRepairs()
  const record = sessionRecord(json, log)
  const kind = kindOf(record)
  const fields: Fields = { record: { ...record }, place: root, log }
  liftCalls(fields)
  sessionHead(fields, filename)
  toolCalls(fields, String(fields.record['created_at']))
  if (kind === 'std-008') {
    const known = collaboration(fields)
    subSessions(fields, known)
    messages(fields, known)
  }
  const session = fields.record as unknown as AgentSession | MultiAgentSession
  mendLinks(session, log)
  // Annotations point at calls, so these must have their ids first.
  liftAnnotations(fields, callIds(session))
  annotations(fields)
  uniqueAnnotationIds(session, log)
  mendAnnotations(session, log)
  keepPhases(fields)
  repairSummary(fields)
  return { session: proven(fields.record), repairs, kind }
}

function sessionRecord(json: unknown, log: RepairLog): JsonRecord {
  const deep = tooDeep(json)
  if (deep) throw refused(pointer(deep), `nested deeper than ${maxNesting} levels; this is no session file`)
  const value = hasPrototypeKey(json)
    ? withoutPrototypeKeys(json, (path) =>
        log(path.reduce(at, root), 'dropped', 'a field named __proto__ is never data'),
      )
    : json
  if (!isRecord(value)) throw refused('', 'a session file is a JSON object; this is another value')
  const signs = ['session_id', 'task_title', 'tool_calls', 'phases', 'steps', 'collaboration', 'sub_sessions']
  if (!signs.some((sign) => Object.hasOwn(value, sign)))
    throw refused('', `no field of a session (${signs.join(', ')}) is in this object; is it a session file?`)
  return value
}

function kindOf(record: JsonRecord): SessionKind {
  const { collaboration: together, sub_sessions: subs, messages: sent } = record
  const isTogether = isRecord(together) || typeof together === 'string'
  const hasSubs = Array.isArray(subs) && subs.length > 0
  const hasMessages =
    Array.isArray(sent) &&
    sent.some((item) => isRecord(item) && ('from_agent' in item || 'message_type' in item))
  if (isTogether || hasSubs || hasMessages) return 'std-008'
  return isLegacy(record) ? 'std-001-v2' : 'std-001-v3'
}

/** The record as a session, once the validator has no error left; the reader never hands on a broken one. */
function proven(record: JsonRecord): AgentSession | MultiAgentSession {
  const [first] = validateSession(record).errors
  if (first) throw refused(first.path, `${first.message}; this could not be repaired`)
  return record as unknown as AgentSession | MultiAgentSession
}

function refused(path: string, why: string): AppError {
  const place = path.length > 200 ? `${path.slice(0, 200)}…` : path
  return new AppError('invalid', `${place === '' ? 'the file' : place}: ${why}`, { details: { path } })
}

export type Migration = {
  readonly session: MultiAgentSession
  readonly repairs: readonly Repair[]
  readonly from: SessionKind
}

/** A session of any version in the present multi-agent shape, with everything that was done to it. */
export function migrate(json: unknown, options: { readonly filename?: string } = {}): Migration {
  const { session, repairs, kind } = readSession(json, options)
  return { session: asMultiAgent(session), repairs, from: kind }
}

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

/** The summary of a session, last, because what is missing is computed from everything else. */
export function repairSummary(session: Fields): void {
  const { record, place, log } = session
  const value = record['summary']
  if (!isRecord(value)) {
    const words = typeof value === 'string' ? { text: value } : {}
    if (value !== undefined && typeof value !== 'string') setAside(session, 'summary', 'is not an object')
    record['summary'] = words
    log(at(place, 'summary'), 'lifted', 'its figures are computed from the calls')
  }
  const fields = fieldsOf(found(session, 'summary'))
  if (!fields) return
  baseFigures(session, fields)
  if ('collaboration' in record) collaborationFigures(session, fields)
  record['summary'] = fields.record
}

function baseFigures({ record }: Fields, summary: Fields): void {
  const calls = record['tool_calls'] as MultiAgentSession['tool_calls']
  const subs = (record['sub_sessions'] ?? []) as MultiAgentSession['sub_sessions']
  const created = String(record['created_at'])
  const last = calls.at(-1)?.ended_at
  const end = (record['completed_at'] as string | undefined) ?? last ?? created
  const files = filesChangedBy([...calls, ...subs.flatMap((sub) => sub.tool_calls)])
  const ms = Math.max(0, millisOf(later(end, 0)) - millisOf(created))
  amount(summary, 'total_duration_ms', { fallback: () => ms })
  amount(summary, 'tool_calls_count', { whole: true, fallback: () => calls.length })
  texts(summary, 'files_created', () => listed(record['files_created']) ?? files.created)
  texts(summary, 'files_modified', () => listed(record['files_modified']) ?? files.modified)
  optionalText(summary, 'text')
  const errors = summary.record['errors_encountered']
  if (Array.isArray(errors)) {
    keepOriginal(summary, 'errors_encountered', errors)
    summary.record['errors_encountered'] = errors.length
    summary.log(
      at(summary.place, 'errors_encountered'),
      'converted',
      'a list of errors is read as their number',
    )
  }
  amount(summary, 'errors_encountered', { whole: true })
}

const listed = (value: unknown): string[] | undefined =>
  Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : undefined

const { agents, tasks } = MultiAgentSessionSummary.shape
const shapes = { agents: loosen(agents), tasks: loosen(tasks) }

function collaborationFigures({ record }: Fields, summary: Fields): void {
  const computed = extendedSummary(record as unknown as MultiAgentSession)
  for (const key of ['agents', 'tasks'] as const) {
    if (shapes[key].safeParse(summary.record[key]).success) continue
    const wasThere = Object.hasOwn(summary.record, key)
    keepOriginal(summary, key, summary.record[key])
    summary.record[key] = computed[key]
    const what = wasThere ? 'it had another shape' : 'it was missing'
    summary.log(at(summary.place, key), 'filled', `${what}; it is computed from the records`)
  }
  amount(summary, 'review_iterations', { whole: true, fallback: () => computed.review_iterations })
  optionalWord(summary, 'final_verdict', ['approved', 'rejected'])
  optionalWord(summary, 'last_verdict', ['approved', 'changes_requested', 'rejected'])
}
