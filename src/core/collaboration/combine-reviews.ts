import type { ReviewerReply } from '../../contract/collaboration/replies.ts'
import type { ReviewFinding } from '../../contract/session-file/outputs.ts'

/** What one of several reviewers said. */
export type ReviewBy = { readonly by: string; readonly reply: ReviewerReply }

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
    verdict: strictest(replies.map(({ verdict }) => verdict)),
    summary: all.map(({ by, reply }) => `${by}: ${reply.summary}`).join('\n'),
    findings,
    // What one calls mended and another raises again is not mended.
    addressed: [...new Set(replies.flatMap(({ addressed = [] }) => addressed))].filter((id) => !open.has(id)),
    ...(changes.length > 0 && { required_changes: changes }),
    ...(commendations.length > 0 && { commendations }),
  }
}

/** A review that somebody did not take part in: earlier findings that it neither calls mended nor raises are open as they were. */
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

const strictest = (verdicts: readonly ReviewerReply['verdict'][]): ReviewerReply['verdict'] =>
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
