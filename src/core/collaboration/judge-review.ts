import type * as z from 'zod'
import type { CheckRun } from '../../contract/collaboration/crew-report.ts'
import type { ReviewerReply } from '../../contract/collaboration/replies.ts'
import type { ReviewFinding } from '../../contract/session-file/outputs.ts'
import type { Verdict } from '../../contract/values.ts'
import { unansweredCritical } from './replies/read-review.ts'

/** The verdict that counts, the one that was given, and why they differ. */
export type Judgement = {
  readonly verdict: z.infer<typeof Verdict>
  readonly said: z.infer<typeof Verdict>
  readonly reasons: readonly string[]
}

type Review = {
  readonly reply: Pick<ReviewerReply, 'verdict' | 'findings' | 'addressed'>
  /** What Muster ran. */
  readonly checks: readonly CheckRun[]
  readonly earlier: readonly ReviewFinding[]
  readonly unfinished?: readonly UnfinishedTask[]
}

/** A task whose work is there in part, and what is missing. */
export type UnfinishedTask = { readonly task_id: string; readonly why: string }

/** An approval counts only with every task done, no critical or major finding left and every required check passed. */
export function judgeReview({ reply, checks, earlier, unfinished = [] }: Review): Judgement {
  const said = reply.verdict
  if (said !== 'approved') return { verdict: said, said, reasons: [] }
  const reasons = [
    ...openOf(reply.findings).filter(forbidsApproval).map(findingReason),
    ...unansweredCritical(reply, earlier).map(
      ({ finding_id }) => `${finding_id} was critical, and the review does not say whether it is mended`,
    ),
    ...failedChecks(checks).map(checkReason),
    ...unfinished.map(unfinishedReason),
  ]
  return { verdict: reasons.length > 0 ? 'changes_requested' : 'approved', said, reasons }
}

/** Required checks that did not pass; one that did not run did not pass either. */
export const failedChecks = (checks: readonly CheckRun[]): CheckRun[] =>
  checks.filter(({ required, passed }) => required && passed !== true)

/** Findings that are not said to be mended already. */
export const openOf = (findings: readonly ReviewFinding[]): ReviewFinding[] =>
  findings.filter((finding) => finding.fixed_in_iteration === undefined)

const forbidsApproval = ({ severity }: ReviewFinding): boolean =>
  severity === 'critical' || severity === 'major'

const findingReason = ({ finding_id, severity }: ReviewFinding): string =>
  `${finding_id} is ${severity} and open`

/** Why a task forbids an approval. */
export const unfinishedReason = ({ task_id, why }: UnfinishedTask): string =>
  `${task_id} is only partly done: ${why}`

/** Why a check forbids an approval. */
export const checkReason = ({ name, passed, because }: CheckRun): string =>
  passed === null
    ? `the required check ${name} did not run${because === undefined ? '' : `: ${because}`}`
    : `the required check ${name} failed`
