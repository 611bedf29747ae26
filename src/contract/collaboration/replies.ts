import * as z from 'zod'
import { DeveloperOutput, RequiredChange, ReviewFinding, SelfReview } from '../session-file/outputs.ts'
import { Verdict } from '../values.ts'

/** What a developer answers with. Which files changed is not asked: git says it. */
export const DeveloperReply = z.object({
  status: DeveloperOutput.shape.status,
  summary: z.string(),
  implementation_notes: z.string().optional(),
  self_review: z.object(SelfReview.shape).optional(),
  blockers: z.array(z.string()).optional(),
  suggestions: z.array(z.string()).optional(),
})
export type DeveloperReply = z.infer<typeof DeveloperReply>

/** What a reviewer answers with. Which checks passed is not asked: Muster ran them. */
export const ReviewerReply = z.object({
  verdict: Verdict,
  summary: z.string(),
  findings: z.array(z.object(ReviewFinding.shape)),
  /** Ids of findings of earlier rounds that the work has mended. */
  addressed: z.array(z.string()).optional(),
  required_changes: z.array(z.object(RequiredChange.shape)).optional(),
  commendations: z.array(z.string()).optional(),
})
export type ReviewerReply = z.infer<typeof ReviewerReply>

/** What may be done about a task that failed. */
export const FailureAction = z.enum(['retry', 'reassign', 'split', 'abort'])
export type FailureAction = z.infer<typeof FailureAction>

/** What an architect answers when it is asked about a task that failed. */
export const FailureReply = z.object({ action: FailureAction, reason: z.string().min(1) })
export type FailureReply = z.infer<typeof FailureReply>

/** What a challenger answers to a plan. */
export const ChallengerReply = z.object({
  verdict: z.enum(['go', 'go_with_changes', 'stop']),
  summary: z.string(),
  objections: z
    .array(
      z.object({
        priority: z.enum(['P0', 'P1', 'P2']).default('P1'),
        description: z.string().min(1),
        settled_by: z.string().optional(),
      }),
    )
    .default([]),
})
export type ChallengerReply = z.infer<typeof ChallengerReply>
