import { AppError } from '../../contract/errors.ts'
import type { AgentSession } from '../../contract/formats/std-001/session.ts'
import type { MultiAgentSession } from '../../contract/formats/std-008/session.ts'
import { hasPrototypeKey, maxNesting, tooDeep, withoutPrototypeKeys } from './json/nesting.ts'
import { at, pointer, root } from './json/pointer.ts'
import { isRecord, type JsonRecord } from './json/value.ts'
import { mendAnnotations } from './links/annotations.ts'
import { mendLinks } from './links/mend-links.ts'
import { uniqueAnnotationIds } from './links/unique-ids.ts'
import { annotations } from './repair/annotation.ts'
import { collaboration } from './repair/collaboration.ts'
import type { Fields } from './repair/fields.ts'
import { sessionHead } from './repair/head.ts'
import { collectRepairs, type Repair, type RepairLog } from './repair/log.ts'
import { messages } from './repair/message.ts'
import { isLegacy, keepPhases, liftAnnotations, liftCalls } from './repair/phases.ts'
import { subSessions } from './repair/sub-session.ts'
import { repairSummary } from './repair/summary.ts'
import { toolCalls } from './repair/tool-call.ts'
import { callIds } from './session-index.ts'
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
