import type * as z from 'zod'
import type { CheckRun, CrewRound } from '../../contract/collaboration/crew-report.ts'
import type { PlanTask, ReviewerReply } from '../../contract/collaboration/replies.ts'
import { told } from '../../contract/formats/foreign-json.ts'
import type { ReviewerInput, ReviewerOutput, ReviewFinding } from '../../contract/session-file/outputs.ts'
import type { Judgement } from './judge-review.ts'
import { type CheckResults, isUnverified, verificationOf } from './read-outputs.ts'
import { checkNames, isBasicCheck, type RequiredCheck } from './required-checks.ts'

/** What a review is about. */
type ReviewWork = {
  readonly reviewId: string
  readonly taskId: string
  readonly request: string
  readonly files: readonly string[]
  readonly tasks: readonly PlanTask[]
  readonly checks: readonly RequiredCheck[]
  readonly rounds: readonly CrewRound[]
}

/** What a reviewer is given. */
export function reviewerInput(work: ReviewWork): z.infer<typeof ReviewerInput> {
  const has = (name: string) => work.checks.some((check) => check.name === name)
  const custom = work.checks.filter((check) => !isBasicCheck(check))
  return {
    review_id: work.reviewId,
    task_id: work.taskId,
    review_scope: { files: [...work.files] },
    criteria: told({
      must_pass_tests: has(checkNames.test),
      must_pass_type_check: has(checkNames.typeCheck),
      custom_checks:
        custom.length === 0 ? undefined : custom.map((check) => ({ ...check, expected_exit_code: 0 })),
    }),
    context: told({
      task_description: work.request,
      acceptance_criteria: work.tasks.flatMap((task) => task.acceptance_criteria),
      previous_reviews: work.rounds.length === 0 ? undefined : work.rounds.map(previousReview),
    }),
  }
}

/** What a reviewer gave back: its own words, the verdict that counts, and the checks that Muster ran. */
export function reviewerOutput(
  { reviewId, taskId }: Pick<ReviewWork, 'reviewId' | 'taskId'>,
  reply: ReviewerReply,
  { verdict, checks }: Pick<Judgement, 'verdict'> & { readonly checks: readonly CheckRun[] },
): ReviewerOutput {
  const { addressed: _, ...words } = reply
  const results = resultsOf(checks)
  return {
    review_id: reviewId,
    task_id: taskId,
    ...words,
    verdict,
    verification: verificationOf(results),
    ...(isUnverified(results) && { original_verification: results }),
  }
}

/** A review as the report keeps it, with the reviewer's own findings; what a check showed is in the checks. */
export const crewRound = (
  number: number,
  reply: ReviewerReply,
  { verdict, said, reasons }: Judgement,
): CrewRound => ({
  number,
  verdict,
  ...(said === verdict ? {} : { said }),
  reasons: [...reasons],
  summary: reply.summary,
  findings: reply.findings,
  addressed: reply.addressed ?? [],
})

/** The checks of a review; one that nobody ran says so, which a boolean cannot. */
function resultsOf(checks: readonly CheckRun[]): CheckResults {
  const result = (check: CheckRun | undefined) =>
    check && check.passed !== null
      ? { passed: check.passed }
      : { passed: null, error: check?.because ?? 'no command is known that runs it' }
  const custom = checks.filter((check) => !isBasicCheck(check))
  return {
    tests: result(checks.find(({ name }) => name === checkNames.test)),
    type_check: result(checks.find(({ name }) => name === checkNames.typeCheck)),
    custom: Object.fromEntries(custom.map((check) => [check.name, result(check)])),
  }
}

const previousReview = ({ number, verdict, findings }: CrewRound) => ({
  review_number: number,
  verdict,
  // In the words of the prompt: what a reviewer is shown of others it was told in its request.
  key_findings: findings.map(findingWords),
})

/** A finding as one entry of a list. */
export function findingWords(finding: ReviewFinding): string {
  const { finding_id, severity, category, file, line, description, rationale, suggestion } = finding
  const place = file === '' ? '' : ` ${file}${line === undefined ? '' : `:${line}`}`
  const optional = severity === 'suggestion' ? ' (may be left)' : ''
  const more = [rationale, suggestion && `Suggestion: ${suggestion}`].filter(Boolean).map(indented)
  return [`- [${finding_id}] ${severity}, ${category}${optional}${place}: ${description}`, ...more].join('\n')
}

const indented = (text: string | undefined): string => `  ${(text ?? '').replaceAll('\n', '\n  ')}`
