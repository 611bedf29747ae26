import * as z from 'zod'
import { DeveloperOutput, RequiredChange, ReviewFinding, SelfReview } from '../session-file/outputs.ts'
import { Priority, Verdict } from '../values.ts'
import { CrewOutcome } from './crew-report.ts'

/** The name of a task: part of branch names, so it begins with a letter or digit. */
const TaskSlug = z.string().regex(/^[a-z0-9][a-z0-9-]{0,39}$/, {
  error: 'must be a short name of lower-case letters, digits and dashes, at most 40',
})

/** What a task waits for: a hard dependency until it is complete, a soft one until it has begun. */
export const TaskDependency = z.object({
  task_id: z.string(),
  type: z.enum(['hard', 'soft']).default('hard'),
})

export type TaskDependency = z.infer<typeof TaskDependency>

/** A dependency as a plan writes it; a bare name is a hard one. */
const WrittenDependency = z.union([
  z.string().transform((task_id): TaskDependency => ({ task_id, type: 'hard' })),
  TaskDependency,
])

/** A file worth reading, by its path or with the reason. */
const FileToRead = z.union([
  z.string().min(1),
  z.object({
    path: z.string().min(1),
    reason: z.string().optional(),
    sections: z.array(z.string()).optional(),
  }),
])

/** One piece of work that a developer can finish without asking back. */
export const PlanTask = z.object({
  task_id: TaskSlug,
  title: z.string().min(1).max(200),
  description: z.string().min(1),
  /** Globs, relative to the project, of what may change. */
  scope: z.array(z.string().min(1)).min(1),
  depends_on: z.array(WrittenDependency).default([]),
  acceptance_criteria: z.array(z.string()),
  priority: Priority.default('medium'),
  testing_required: z.boolean().default(true),
  reference_files: z.array(FileToRead).optional(),
  specs: z.array(FileToRead).optional(),
})

export type PlanTask = z.infer<typeof PlanTask>

/** The commands that show whether the work is good; Muster runs them itself. */
export const PlanChecks = z.object({
  test: z.string().min(1).optional(),
  type_check: z.string().min(1).optional(),
  custom: z.array(z.object({ name: z.string().min(1), command: z.string().min(1) })).optional(),
})

export type PlanChecks = z.infer<typeof PlanChecks>

/** What an architect answers a request with. Fields it adds are left out: they bind nobody. */
export const Plan = z.object({
  summary: z.string().min(1),
  tasks: z.array(PlanTask).min(1),
  checks: PlanChecks.optional(),
  notes: z.string().optional(),
})

export type Plan = z.infer<typeof Plan>

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

/** What may become of work that a review did not approve: it is fixed, planned anew, or given up. Nobody can approve it here. */
export const RoundAction = z.enum(['revise', 'replan', 'abort'])

export type RoundAction = z.infer<typeof RoundAction>

/** What an architect answers when it is asked about a review that did not approve. */
export const RoundReply = z.object({ action: RoundAction, reason: z.string().min(1) })

export type RoundReply = z.infer<typeof RoundReply>

/** What an architect says in the end: its own words, and claims that are compared with the facts. */
export const ReportReply = z.object({
  summary: z.string().min(1).max(8000),
  outcome: CrewOutcome,
  completed: z.array(z.string()).default([]),
  /** Ids of tasks and findings that are not settled. */
  open: z.array(z.string()).default([]),
  /** Left out where no check was run. */
  checks_passed: z.boolean().optional(),
})

export type ReportReply = z.infer<typeof ReportReply>

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

/** What a peer answers at the end of its turn. */
export const PeerReply = z.object({
  summary: z.string(),
  messages: z.array(z.object({ to: z.string().min(1), content: z.string().min(1).max(4000) })).default([]),
  /** The words of the blackboard, and the version that they replace. */
  board: z.object({ version: z.int().min(0), content: z.string().max(8000) }).optional(),
  /** Whether all is as it should be after this turn. */
  agrees: z.boolean(),
})

export type PeerReply = z.infer<typeof PeerReply>

/** What a voter answers. */
export const VoteReply = z.object({ vote: z.string().min(1), reason: z.string().min(1).max(4000) })

export type VoteReply = z.infer<typeof VoteReply>

const replies = {
  plan: Plan,
  developer: DeveloperReply,
  reviewer: ReviewerReply,
  failure: FailureReply,
  round: RoundReply,
  report: ReportReply,
  challenger: ChallengerReply,
  peer: PeerReply,
  vote: VoteReply,
} as const

/** Every answer that a collaboration asks an agent for. */
export type ReplyKind = keyof typeof replies

/** The JSON Schema of an answer, for models that can be held to one. */
export const replySchema = (kind: ReplyKind): Record<string, unknown> => {
  const { $schema: _, ...schema } = z.toJSONSchema(replies[kind], { io: 'input' })
  return schema
}
