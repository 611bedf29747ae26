import type { CheckRun } from '../../contract/collaboration/crew-report.ts'
import type { DeveloperReply, ReviewerReply } from '../../contract/collaboration/replies.ts'
import type {
  DeveloperOutput,
  FileChange,
  ReviewerOutput,
  ReviewFinding,
} from '../../contract/session-file/outputs.ts'
import type { Assignment } from './assignment.ts'
import { developerOutput } from './developer-work.ts'
import { type Judgement, judgeReview, type UnfinishedTask } from './judge-review.ts'
import { repairPrompt } from './prompt-parts.ts'
import type { ReplyResult } from './read-reply.ts'
import { developerFromProse } from './read-work-replies.ts'
import { selfReview } from './required-checks.ts'
import { reviewerOutput } from './reviewer-work.ts'
import { failureOfChecks, type TaskFailure, taskFailure } from './task-failure.ts'

type Of<K extends Assignment['kind']> = Extract<Assignment, { readonly kind: K }>

/** How the agent ended, and what it said last. */
type Ended = {
  readonly status: 'completed' | 'failed' | 'timeout'
  readonly text: string
  readonly reason?: string | undefined
  readonly isSpent?: boolean
}

type SeenWork = {
  readonly end: Ended
  /** Its answer; nothing when none fits the form, though it was asked for once more. */
  readonly reply: DeveloperReply | undefined
  /** What git shows of the work. */
  readonly files: readonly FileChange[]
  readonly outside: readonly string[]
  readonly left: readonly string[]
  /** What Muster ran on it; nothing where it was not to be checked. */
  readonly checks?: readonly CheckRun[]
}

/** What came of a task. */
export type DeveloperOutcome = {
  readonly state: DeveloperOutput['status']
  readonly output: DeveloperOutput
  readonly failure?: TaskFailure
}

/** What a task came to: what git and the checks show counts before what its developer says. */
export function developerOutcome(
  { taskId, input }: Of<'developer'>,
  { end, reply, files, outside, left, checks }: SeenWork,
): DeveloperOutcome {
  const { scope = [], testing_required: isTestWanted = true } = input.constraints ?? {}
  const failure = taskFailure({ end, reply, scope, outside, left }) ?? (checks && failureOfChecks(checks))
  const said = reply ?? unsaid(end)
  const review = checks ? selfReview(said.self_review, { checks, isTestWanted }) : said.self_review
  const state = failure ? (failure.isPartial ? 'partial' : 'failed') : said.status
  const output = developerOutput(
    taskId,
    { ...said, status: state, ...(review && { self_review: review }) },
    files,
  )
  return { state, output, ...(failure && { failure }) }
}

/** An agent that never gave its answer in the form that was asked for: its words are kept, and say so. */
function unsaid({ status, text, reason }: Ended): DeveloperReply {
  if (status === 'completed') return developerFromProse(text)
  return { status: 'failed', summary: text || (reason ?? ''), blockers: [reason ?? 'it did not finish'] }
}

type SeenReview = {
  readonly end: Ended
  readonly reply: ReviewerReply | undefined
  /** What Muster ran on the work: the reviewer's own word on it does not count. */
  readonly checks: readonly CheckRun[]
  readonly earlier: readonly ReviewFinding[]
  readonly unfinished: readonly UnfinishedTask[]
}

/** What came of a review: a verdict, or why there is none. */
export type ReviewerOutcome =
  | { readonly output: ReviewerOutput; readonly reply: ReviewerReply; readonly judgement: Judgement }
  | { readonly failure: TaskFailure }

/** What a review came to; a check that did not run is never true, and who gave no answer approves nothing. */
export function reviewerOutcome(
  { taskId: reviewId, input }: Of<'reviewer'>,
  { end, reply, checks, earlier, unfinished }: SeenReview,
): ReviewerOutcome {
  if (!reply) {
    const failure = taskFailure({ end, reply, scope: [], outside: [], left: [] })
    return { failure: failure ?? { kind: 'exception', error: 'no answer that can be read' } }
  }
  const judgement = judgeReview({ reply, checks, earlier, unfinished })
  const output = reviewerOutput({ reviewId, taskId: input.task_id }, reply, { ...judgement, checks })
  return { output, reply, judgement }
}

/** Why an answer cannot be taken, in the words that ask for another one; nothing when it can. */
export const refusalOf =
  (read: (text: string) => ReplyResult<unknown>) =>
  (text: string): string | undefined => {
    const said = read(text)
    return 'problems' in said ? repairPrompt(said.problems) : undefined
  }
