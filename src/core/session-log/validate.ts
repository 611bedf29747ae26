import { AgentSession } from '../../contract/formats/std-001/session.ts'
import type { ValidationResult } from '../../contract/formats/std-008/issue.ts'
import { LooseAgentSession, LooseMultiAgentSession } from '../../contract/formats/std-008/loose-sessions.ts'
import { MultiAgentSession } from '../../contract/formats/std-008/session.ts'
import { shapeFaults } from '../../contract/formats/std-008/shape-faults.ts'
import { Skeleton } from '../../contract/formats/std-008/skeleton.ts'
import { undocumentedFields } from '../../contract/formats/std-008/undocumented-fields.ts'
import { checkAnnotations } from './checks/annotations.ts'
import { checkBaseCounts, checkCounts } from './checks/counts.ts'
import { checkDelegation } from './checks/delegation.ts'
import { checkAnnotationIds, checkCallIds, checkIds } from './checks/ids.ts'
import { checkMessageFlow } from './checks/message-flow.ts'
import { checkMessages } from './checks/messages.ts'
import { checkFileName } from './checks/names.ts'
import { checkParents } from './checks/parents.ts'
import { checkTimes } from './checks/times.ts'
import { maxNesting, tooDeep } from './json/nesting.ts'
import { isRecord } from './json/value.ts'
import { collectIssues, type Report, validationOf } from './report.ts'
import { indexSession } from './session-index.ts'

export type ValidateOptions = { readonly filename?: string }

/** Everything wrong with a multi-agent session; valid means no errors. */
export function validateMultiAgentSession(session: unknown, options: ValidateOptions = {}): ValidationResult {
  return validated(session, options, (report) => {
    const isShaped = checkSchema(session, multi, report)
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
    checkCounts(file, index, report)
  })
}

/** Everything wrong with a single-agent session. */
export function validateAgentSession(session: unknown, options: ValidateOptions = {}): ValidationResult {
  return validated(session, options, (report) => {
    if (!checkSchema(session, single, report)) return
    const file = session as AgentSession
    const index = indexSession(file)
    checkCallIds(index, report)
    checkAnnotationIds(file, report)
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
  const { report, issues } = collectIssues()
  const deep = tooDeep(session)
  if (deep) report('too_deep', deep, `nested deeper than ${maxNesting} levels`)
  else {
    check(report)
    if (filename !== undefined) checkFileName(session, filename, report)
  }
  return validationOf(issues)
}

const multi = { written: MultiAgentSession, read: LooseMultiAgentSession }
const single = { written: AgentSession, read: LooseAgentSession }

function checkSchema(session: unknown, format: typeof multi | typeof single, report: Report): boolean {
  const faults = shapeFaults(session, format.read)
  for (const { path, message } of faults) report('schema', path, message)
  if (faults.length > 0) return false
  for (const { path, count } of undocumentedFields(session, format.written))
    report('unknown_field', path, `not a field of the format${count === 1 ? '' : `, ${count} times`}`)
  return true
}
