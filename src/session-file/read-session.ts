import { AppError } from '../contract/errors.ts'
import { AgentSession, SessionSummary } from '../contract/session-file/agent-session.ts'
import {
  type MultiAgentSession,
  MultiAgentSessionSummary,
} from '../contract/session-file/multi-agent-session.ts'
import { amount, textFrom, timeFrom } from '../core/json/field-kinds.ts'
import { fieldTable, type Row, readFields, readRecord } from '../core/json/field-table.ts'
import { later, millisOf } from '../core/json/iso-time.ts'
import {
  at,
  hasPrototypeKey,
  isRecord,
  type JsonRecord,
  maxNesting,
  pointer,
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
  setAside,
} from '../core/json/repair.ts'
import { filesChangedBy } from './changed-files.ts'
import { asMultiAgent, extendedSummary } from './multi-agent.ts'
import { statusRow, toolCalls } from './read-calls.ts'
import { readCollaboration } from './read-collaboration.ts'
import { isLegacy, keepPhases, liftCalls, readAnnotations } from './read-phases.ts'
import { repairAnnotations, repairLinks } from './repair-links.ts'
import { loosen } from './shape.ts'
import { validateSession } from './validate.ts'

/** Which format a file was in before it was read. */
type SessionKind = 'std-001-v3' | 'std-001-v2' | 'std-008'

/** A session that passes the validator, and everything that was done to it. */
type ReadSession = {
  readonly session: AgentSession | MultiAgentSession
  readonly repairs: readonly Repair[]
  readonly kind: SessionKind
}
type ReadOptions = { readonly filename?: string }

/** Reads a session of any version and drift; what cannot become a valid session is refused with the place. */
export function readSession(json: unknown, { filename }: ReadOptions = {}): ReadSession {
  const { log, repairs } = collectRepairs()
  const record = sessionRecord(json, log)
  const kind = kindOf(record)
  const fields: Fields = { record: { ...record }, place: root, log }
  liftCalls(fields)
  readFields(fields, sessionTable, { filename })
  if (kind === 'std-008') readCollaboration(fields)
  const session = fields.record as unknown as AgentSession | MultiAgentSession
  repairLinks(session, log)
  // Annotations point at calls, so these must have their ids first.
  readAnnotations(fields)
  repairAnnotations(session, log)
  keepPhases(fields)
  readSummary(fields)
  return { session: proven(fields.record), repairs, kind }
}

/** A session of any version in the present multi-agent shape, with everything that was done to it. */
export function migrate(json: unknown, options: ReadOptions = {}) {
  const { session, repairs, kind } = readSession(json, options)
  return { session: asMultiAgent(session), repairs, from: kind }
}

const sessionTable = fieldTable<{ readonly filename: string | undefined }>(AgentSession, {
  created_at: {
    aliases: ['started_at'],
    fallback: (record, { filename }) => earliest(record, filename),
  },
  session_id: {
    fallback: ({ created_at }, { filename }) =>
      filename?.replace(/^.*[/\\]/, '').replace(/\.json$/, '') ||
      `${String(created_at).slice(0, 10)}-000-session`,
  },
  task_title: { aliases: ['title'], fallback: titleFrom },
  user_prompt: { fallback: '' },
  completed_at: { notBefore: 'created_at' },
  status: statusRow,
  agent: { read: modelOf },
  tool_calls: { read: (fields) => toolCalls(fields, String(fields.record['created_at'])) },
})

const modelTable = fieldTable(AgentSession.shape.agent, {
  model_id: { fallback: 'unknown' },
})

type Figures = {
  readonly session: JsonRecord
  readonly computed?: Pick<MultiAgentSessionSummary, 'agents' | 'tasks' | 'review_iterations'>
}

const summaryRows: Readonly<Record<string, Row<Figures>>> = {
  total_duration_ms: {
    fallback: (_, { session }) => {
      const { created_at, completed_at } = session as unknown as AgentSession
      const end = completed_at ?? callsOf(session).own.at(-1)?.ended_at ?? created_at
      return Math.max(0, millisOf(later(end, 0)) - millisOf(created_at))
    },
  },
  tool_calls_count: { fallback: (_, { session }) => callsOf(session).own.length },
  files_created: { fallback: (_, { session }) => changed(session, 'created') },
  files_modified: { fallback: (_, { session }) => changed(session, 'modified') },
  errors_encountered: {
    read: (summary, key) => {
      const errors = summary.record[key]
      if (Array.isArray(errors)) {
        keepOriginal(summary, key, errors)
        summary.record[key] = errors.length
        summary.log(at(summary.place, key), 'converted', 'a list of errors is read as their number')
      }
      amount(summary, key, { whole: true })
    },
  },
}
const summaryTable = fieldTable(SessionSummary, summaryRows)
const multiSummaryTable = fieldTable<Figures>(MultiAgentSessionSummary, {
  ...summaryRows,
  agents: { read: computedFigure },
  tasks: { read: computedFigure },
  review_iterations: { fallback: (_, { computed }) => computed?.review_iterations ?? 0 },
})

function sessionRecord(json: unknown, log: RepairLog): JsonRecord {
  const deep = tooDeep(json)
  if (deep)
    throw refused(pointer(deep), `nested deeper than ${maxNesting} levels; this is not a session file`)
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

/** A session without a beginning takes the earliest time the file gives anywhere; one without any is refused. */
function earliest(record: JsonRecord, filename: string | undefined): string {
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
    'the session does not say when it began: give it created_at, like "2026-01-26T10:00:00Z"',
    { details: { path: '/created_at' } },
  )
}

function titleFrom(record: JsonRecord): string {
  const described = textFrom(record['task_description']) ?? textFrom(record['user_prompt'])
  const line = described?.split('\n')[0]?.trim()
  return line ? line.slice(0, 120) : String(record['session_id'])
}

function modelOf(fields: Fields): void {
  const { record, place, log } = fields
  const value = record['agent']
  const name = textFrom(value)
  if (!isRecord(value)) {
    if (typeof value === 'object' && value !== null) setAside(fields, 'agent', 'is not an object')
    record['agent'] = name === undefined ? {} : { model_id: name }
    log(at(place, 'agent'), 'lifted', name === undefined ? 'it was missing' : 'a name is read as the model')
  }
  record['agent'] = readRecord(found(fields, 'agent'), modelTable, undefined)
}

/** The summary of a session, last, because what is missing is computed from everything else. */
function readSummary(session: Fields): void {
  const { record, place, log } = session
  const value = record['summary']
  if (!isRecord(value)) {
    if (value !== undefined && typeof value !== 'string') setAside(session, 'summary', 'is not an object')
    record['summary'] = typeof value === 'string' ? { text: value } : {}
    log(at(place, 'summary'), 'lifted', 'its figures are computed from the calls')
  }
  const summary = fieldsOf(found(session, 'summary'))
  if (!summary) return
  record['summary'] =
    'collaboration' in record
      ? readFields(summary, multiSummaryTable, {
          session: record,
          computed: extendedSummary(record as unknown as MultiAgentSession),
        })
      : readFields(summary, summaryTable, { session: record })
}

function callsOf(session: JsonRecord) {
  const { tool_calls: own, sub_sessions: subs } = session as unknown as AgentSession &
    Partial<MultiAgentSession>
  return { own, all: [...own, ...(subs ?? []).flatMap((sub) => sub.tool_calls)] }
}

/** The changed files that the session itself lists, else those that its calls show. */
function changed(session: JsonRecord, change: 'created' | 'modified'): readonly string[] {
  const listed = session[`files_${change}`]
  const isList = Array.isArray(listed) && listed.every((item) => typeof item === 'string')
  return isList ? listed : filesChangedBy(callsOf(session).all)[change]
}

const { agents, tasks } = MultiAgentSessionSummary.shape
const figures: Readonly<Record<string, ReturnType<typeof loosen>>> = {
  agents: loosen(agents),
  tasks: loosen(tasks),
}

function computedFigure(summary: Fields, key: string, { computed }: Figures): void {
  const { record, place, log } = summary
  if (figures[key]?.safeParse(record[key]).success) return
  const what = Object.hasOwn(record, key) ? 'it had another shape' : 'it was missing'
  keepOriginal(summary, key, record[key])
  record[key] = computed?.[key as 'agents' | 'tasks']
  log(at(place, key), 'filled', `${what}; it is computed from the records`)
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
