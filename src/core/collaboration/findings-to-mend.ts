import type { CheckRun } from '../../contract/collaboration/crew-report.ts'
import type { ReviewerReply } from '../../contract/collaboration/replies.ts'
import type { ReviewFinding } from '../../contract/session-file/outputs.ts'
import { checkReason, failedChecks, openOf, type UnfinishedTask, unfinishedReason } from './judge-review.ts'
import { unansweredCritical } from './replies/read-review.ts'

type Review = {
  readonly reply: ReviewerReply
  readonly checks: readonly CheckRun[]
  readonly earlier: readonly ReviewFinding[]
  readonly round: number
  readonly unfinished?: readonly UnfinishedTask[]
}

const mostOutput = 2000

/** Everything that a review leaves to be mended, as findings: what was found, asked for, or failed. Never nothing. */
export function findingsToMend({ reply, checks, earlier, round, unfinished = [] }: Review): ReviewFinding[] {
  const found = openOf(reply.findings)
  const known = new Set(reply.findings.map((finding) => finding.finding_id))
  const asked = (reply.required_changes ?? []).filter(
    ({ related_findings: related }) => !related.some((id) => known.has(id)),
  )
  const all: ReviewFinding[] = [
    ...found,
    ...unansweredCritical(reply, earlier),
    ...asked.map(
      ({ change_id, priority, description }): ReviewFinding => ({
        finding_id: `r${round}-${change_id}`,
        severity: priority === 'must_fix' ? 'major' : priority === 'should_fix' ? 'minor' : 'suggestion',
        category: 'logic',
        file: '',
        description,
      }),
    ),
    ...failedChecks(checks).map((check): ReviewFinding => checkFinding(check, round)),
    ...unfinished.map(
      (task): ReviewFinding => ({
        finding_id: `r${round}-unfinished-${task.task_id}`,
        severity: 'major',
        category: 'logic',
        file: '',
        description: unfinishedReason(task),
      }),
    ),
  ]
  if (all.length > 0) return all
  return [
    {
      finding_id: `r${round}-summary`,
      severity: 'major',
      category: 'logic',
      file: '',
      description: reply.summary.trim() || 'the review asks for changes and does not say which',
    },
  ]
}

function checkFinding(check: CheckRun, round: number): ReviewFinding {
  const output = check.output?.trim().slice(-mostOutput)
  return {
    finding_id: `r${round}-check-${check.name}`,
    severity: 'critical',
    category: 'test',
    file: '',
    description: `${checkReason(check)}${check.command === undefined ? '' : ` (${check.command})`}`,
    ...(output ? { rationale: `it ended with:\n${output}` } : {}),
  }
}
