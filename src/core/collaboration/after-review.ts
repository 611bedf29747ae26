import type * as z from 'zod'
import { OnMaxIterations } from '../../contract/crew.ts'
import type { Verdict } from '../../contract/values.ts'

/** What happens when the rounds are used up. */
export type Escalation = z.infer<typeof OnMaxIterations>
/** What a person may answer to work that the rounds were not enough for. */
export const escalationAnswers = ['iterate', 'force_approve', 'abort'] as const
export type EscalationAnswer = (typeof escalationAnswers)[number]

/** A choice as `decision.made` records it. */
export type Decision = {
  readonly subject: 'approach' | 'retry'
  readonly candidates: readonly string[]
  readonly choice: string
  readonly reason: string
}

export type AfterReview =
  | { readonly next: 'complete'; readonly iterations: number }
  | { readonly next: 'revise' | 'replan'; readonly iterations: number }
  | { readonly next: Escalation; readonly iterations: number; readonly decision: Decision }

type Loop = {
  readonly verdict: z.infer<typeof Verdict>
  /** How many reviews before this one did not approve. */
  readonly iterations: number
  readonly maxIterations: number
  readonly onLimit: Escalation
}

/** Where the work goes after a review; changes_requested and rejected both count against the limit. */
export function afterReview({ verdict, iterations, maxIterations, onLimit }: Loop): AfterReview {
  if (verdict === 'approved') return { next: 'complete', iterations }
  const used = iterations + 1
  if (used < maxIterations) return { next: verdict === 'rejected' ? 'replan' : 'revise', iterations: used }
  const reason = `${used} of ${maxIterations} rounds are used up, and the last review says ${verdict}`
  const candidates = OnMaxIterations.options
  return {
    next: onLimit,
    iterations: used,
    decision: { subject: 'approach', candidates, choice: onLimit, reason },
  }
}

/** Where the work goes once a person has answered; one more round is one more round of the same kind. */
export function afterAnswer(
  answer: EscalationAnswer,
  verdict: z.infer<typeof Verdict>,
): 'revise' | 'replan' | 'force_approve' | 'abort' {
  if (answer !== 'iterate') return answer
  return verdict === 'rejected' ? 'replan' : 'revise'
}

/** What a person chose, as a decision like any other. */
export const answeredBy = (answer: EscalationAnswer): Decision => ({
  subject: 'approach',
  candidates: escalationAnswers,
  choice: answer,
  reason: 'a person was asked at the limit of the rounds and decided so',
})
