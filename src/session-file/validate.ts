import { AgentSession } from '../contract/session-file/agent-session.ts'
import { type Issue, issueCodes, type Report, type ValidationResult } from '../contract/session-file/issue.ts'
import { shapeFaults } from '../contract/session-file/message-payloads.ts'
import { MultiAgentSession, SingleAsMultiAgent } from '../contract/session-file/multi-agent-session.ts'
import { isRecord, maxNesting, pointer, tooDeep } from '../core/json/json-value.ts'
import { checkBaseCounts, checkCounts, checkTimes } from './check-figures.ts'
import { checkAnnotations, checkDelegation, checkIds, checkParents } from './check-links.ts'
import { checkAgents, checkMessageFlow, checkMessages } from './check-messages.ts'
import { isMultiAgentSession } from './multi-agent.ts'
import { indexSession } from './session-walk.ts'
import {
  LooseAgentSession,
  LooseMultiAgentSession,
  LooseSingleAsMultiAgent,
  Skeleton,
  undocumentedFields,
} from './shape.ts'

type ValidateOptions = { readonly filename?: string }

/** Everything wrong with a multi-agent session; valid means no errors. */
export function validateMultiAgentSession(session: unknown, options: ValidateOptions = {}): ValidationResult {
  return validated(session, options, (report) => {
    const isShaped = checkSchema(session, isSeenAsMulti(session) ? seen : multi, report)
    if (isRecord(session)) checkAgents(session, report)
    // A fault in one field must not hide the broken links beside it, as long as the ids can be read.
    if (!isShaped && !Skeleton.safeParse(session).success) return
    const file = session as MultiAgentSession
    const index = indexSession(file)
    checkParents(file, index, report)
    checkDelegation(file, index, report)
    if (!isShaped) return
    checkIds(file, index, report)
    checkMessages(file, report)
    checkMessageFlow(file, report)
    checkAnnotations(file, index, report)
    checkTimes(file, index, report)
    checkBaseCounts(file, index, report)
    if (isCounted(file)) checkCounts(file, index, report)
  })
}

/** Everything wrong with a single-agent session. */
export function validateAgentSession(session: unknown, options: ValidateOptions = {}): ValidationResult {
  return validated(session, options, (report) => {
    if (!checkSchema(session, single, report)) return
    const file = session as AgentSession
    const index = indexSession(file)
    checkIds(file, index, report)
    checkAnnotations(file, index, report)
    checkTimes(file, index, report)
    checkBaseCounts(file, index, report)
  })
}

/** Everything wrong with a session file of either format; its content says which it is. */
export const validateSession = (session: unknown, options: ValidateOptions = {}): ValidationResult =>
  isRecord(session) && 'collaboration' in session
    ? validateMultiAgentSession(session, options)
    : validateAgentSession(session, options)

function validated(
  session: unknown,
  { filename }: ValidateOptions,
  check: (report: Report) => void,
): ValidationResult {
  const issues: Issue[] = []
  const report: Report = (code, path, message) =>
    issues.push({ path: pointer(path), code, message, severity: issueCodes[code].severity })
  const deep = tooDeep(session)
  if (deep) report('too_deep', deep, `nested deeper than ${maxNesting} levels`)
  else {
    check(report)
    if (filename !== undefined) checkFileName(session, filename, report)
  }
  const errors = issues.filter((issue) => issue.severity === 'error')
  const warnings = issues.filter((issue) => issue.severity === 'warning')
  return { valid: errors.length === 0, errors, warnings }
}

const multi = { written: MultiAgentSession, read: LooseMultiAgentSession }
const seen = { written: SingleAsMultiAgent, read: LooseSingleAsMultiAgent }
const single = { written: AgentSession, read: LooseAgentSession }

/** What is no collaboration of several need not have their figures. */
const isSeenAsMulti = (session: unknown): boolean =>
  isRecord(session) && isRecord(session['collaboration']) && session['collaboration']['mode'] === 'single'

const isCounted = ({ summary }: MultiAgentSession): boolean =>
  ['agents', 'tasks', 'review_iterations'].every((key) => key in summary)

function checkSchema(
  session: unknown,
  format: typeof multi | typeof seen | typeof single,
  report: Report,
): boolean {
  const faults = shapeFaults(session, format.read)
  for (const { path, message } of faults) report('schema', path, message)
  if (faults.length > 0) return false
  for (const { path, count } of undocumentedFields(session, format.written))
    report('unknown_field', path, `not a field of the format${count === 1 ? '' : `, ${count} times`}`)
  return true
}

/** A session, or what keeps a value from being one; unknown fields are kept. */
type ParseResult<S> =
  | (ValidationResult & { readonly success: true; readonly session: S })
  | (ValidationResult & { readonly success: false })

/** Any JSON value as a session, as it is and without repairs; content decides which format it is. */
export function parseSession(json: unknown): ParseResult<AgentSession | MultiAgentSession> {
  const isCollaboration = isRecord(json) && isRecord(json['collaboration'])
  return isCollaboration ? parseMultiAgentSession(json) : parseAgentSession(json)
}

export const parseMultiAgentSession = (json: unknown): ParseResult<MultiAgentSession> =>
  parsed<MultiAgentSession>(json, validateMultiAgentSession(json))

export const parseAgentSession = (json: unknown): ParseResult<AgentSession> =>
  parsed<AgentSession>(json, validateAgentSession(json))

const parsed = <S>(json: unknown, result: ValidationResult): ParseResult<S> =>
  result.valid ? { ...result, success: true, session: json as S } : { ...result, success: false }

/** The name of a file against its content; content decides, so this only warns. */
function checkFileName(session: unknown, filename: string, report: Report): void {
  const isMulti = isMultiAgentSession(session)
  if (isMulti !== isMultiAgentSession(filename))
    report(
      'filename_differs',
      [],
      isMulti
        ? 'a multi-agent session, but not named -multi.json'
        : 'named -multi.json, but a single session',
    )
  const stem = filename.replace(/^.*[/\\]/, '').replace(/\.json$/, '')
  if (isRecord(session) && typeof session['session_id'] === 'string' && session['session_id'] !== stem)
    report('stem_differs', ['session_id'], `the file is named ${stem}`)
}
