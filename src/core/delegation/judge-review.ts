import type * as z from 'zod'
import type { CheckRun } from '../../contract/collaboration/crew-report.ts'
import type { ReviewerReply } from '../../contract/collaboration/replies.ts'
import type { ReviewFinding } from '../../contract/session-file/outputs.ts'
import type { Verdict } from '../../contract/values.ts'
import { checkReason, failedChecks } from './required-checks.ts'

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
    ...openFindings(reply.findings).filter(forbidsApproval).map(findingReason),
    ...unansweredCritical(reply, earlier).map(
      ({ finding_id }) => `${finding_id} was critical, and the review does not say whether it is fixed`,
    ),
    ...failedChecks(checks).map(checkReason),
    ...unfinished.map(unfinishedReason),
  ]
  return { verdict: reasons.length > 0 ? 'changes_requested' : 'approved', said, reasons }
}

/** Findings that are not said to fix already. */
export const openFindings = (findings: readonly ReviewFinding[]): ReviewFinding[] =>
  findings.filter((finding) => finding.fixed_in_iteration === undefined)

const forbidsApproval = ({ severity }: ReviewFinding): boolean =>
  severity === 'critical' || severity === 'major'

const findingReason = ({ finding_id, severity }: ReviewFinding): string =>
  `${finding_id} is ${severity} and open`

/** Why a task forbids an approval. */
export const unfinishedReason = ({ task_id, why }: UnfinishedTask): string =>
  `${task_id} is only partly done: ${why}`

/** Critical findings of earlier rounds that a review neither calls fixed nor raises again. */
export function unansweredCritical(
  { findings, addressed = [] }: Pick<ReviewerReply, 'findings' | 'addressed'>,
  earlier: readonly ReviewFinding[],
): ReviewFinding[] {
  const answered = new Set([...addressed, ...findings.map((finding) => finding.finding_id)])
  return earlier.filter(({ severity, finding_id }) => severity === 'critical' && !answered.has(finding_id))
}

/** What one of several reviewers said. */
type ReviewBy = { readonly by: string; readonly reply: ReviewerReply }

const verdictOrder = ['approved', 'changes_requested', 'rejected'] as const
const severityOrder = ['suggestion', 'minor', 'major', 'critical'] as const

/** The reviews of one round as one: the strictest verdict counts, and nothing that anybody found is lost. */
export function combineReviews(first: ReviewBy, ...others: readonly ReviewBy[]): ReviewerReply {
  if (others.length === 0) return first.reply
  const all = [first, ...others]
  const replies = all.map(({ reply }) => reply)
  const findings = merged(replies.flatMap((reply) => reply.findings))
  const open = new Set(
    findings.filter((one) => one.fixed_in_iteration === undefined).map((one) => one.finding_id),
  )
  const changes = replies.flatMap((reply) => reply.required_changes ?? [])
  const commendations = replies.flatMap((reply) => reply.commendations ?? [])
  return {
    verdict: strictestVerdict(replies.map(({ verdict }) => verdict)),
    summary: all.map(({ by, reply }) => `${by}: ${reply.summary}`).join('\n'),
    findings,
    // What one calls fixed and another raises again is not fixed.
    addressed: [...new Set(replies.flatMap(({ addressed = [] }) => addressed))].filter((id) => !open.has(id)),
    ...(changes.length > 0 && { required_changes: changes }),
    ...(commendations.length > 0 && { commendations }),
  }
}

/** A review that somebody did not take part in: earlier findings that it neither calls fixed nor raises are open as they were. */
export function withUnanswered(reply: ReviewerReply, earlier: readonly ReviewFinding[]): ReviewerReply {
  const answered = new Set([
    ...(reply.addressed ?? []),
    ...reply.findings.map((finding) => finding.finding_id),
  ])
  return {
    ...reply,
    findings: [...reply.findings, ...earlier.filter(({ finding_id }) => !answered.has(finding_id))],
  }
}

/** Of several verdicts the one that counts. */
export const strictestVerdict = (verdicts: readonly ReviewerReply['verdict'][]): ReviewerReply['verdict'] =>
  verdictOrder[Math.max(...verdicts.map((verdict) => verdictOrder.indexOf(verdict)))] ?? 'changes_requested'

/** A finding that several raise is there once, as its strictest reader has it. */
function merged(findings: readonly ReviewFinding[]): ReviewFinding[] {
  const known = new Map<string, ReviewFinding>()
  for (const finding of findings) {
    const other = known.get(finding.finding_id)
    if (!other || weight(finding) > weight(other)) known.set(finding.finding_id, finding)
  }
  return [...known.values()]
}

const weight = ({ severity, fixed_in_iteration }: ReviewFinding): number =>
  fixed_in_iteration === undefined ? severityOrder.indexOf(severity) + 1 : 0

type Unjudged = {
  readonly checks: readonly CheckRun[]
  /** Findings of earlier rounds that nobody has called fixed. */
  readonly earlier: readonly ReviewFinding[]
  readonly unfinished: readonly UnfinishedTask[]
  /** Why those who were asked said nothing; nothing where nobody was to be asked. */
  readonly why?: string | undefined
}

/** Where nobody gives a verdict the required checks decide, and it is said why; what was found before stays open. */
export function reviewByChecks({ checks, earlier, unfinished, why }: Unjudged): {
  readonly reply: ReviewerReply
  readonly judgement: Judgement
} {
  const findings = [...earlier]
  const { reasons } = judgeReview({
    reply: { verdict: 'approved', findings },
    checks,
    earlier,
    unfinished,
  })
  const hasLooked = why === undefined || checks.some(({ passed }) => passed !== null)
  const all = [...reasons, ...(hasLooked ? [] : ['nobody has judged the work, and no check was run'])]
  const verdict = all.length === 0 ? 'approved' : 'changes_requested'
  const nobody =
    why === undefined ? '' : `The reviewer gave no verdict (${why}); the required checks decide. `
  return {
    reply: { verdict, summary: `${nobody}${checkResults(checks)}`, findings },
    judgement: { verdict, said: verdict, reasons: all },
  }
}

const checkResults = (checks: readonly CheckRun[]): string =>
  checks.length === 0
    ? 'There were no checks to run.'
    : checks
        .map(({ name, passed }) => `${name}: ${passed === null ? 'not run' : passed ? 'passed' : 'failed'}`)
        .join(', ')
