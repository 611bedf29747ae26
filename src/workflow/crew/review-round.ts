import type { CheckRun, CrewRound, Skipped } from '../../contract/collaboration/crew-report.ts'
import type { PlanTask } from '../../contract/collaboration/plan.ts'
import type { ReviewFinding } from '../../contract/formats/std-008/reviewer.ts'
import { combineReviews } from '../../core/collaboration/combine-reviews.ts'
import { findingsToMend } from '../../core/collaboration/findings-to-mend.ts'
import { judgeReview, type UnfinishedTask } from '../../core/collaboration/judge-review.ts'
import type { RequiredCheck } from '../../core/collaboration/required-checks.ts'
import { reviewByChecks } from '../../core/collaboration/review-by-checks.ts'
import { crewRound } from '../../core/collaboration/review-work.ts'
import type { Flow, Procedure } from '../../ports/durable.ts'
import type { ChangedFile } from '../../ports/workspace.ts'
import type { Around } from './carry-out.ts'
import { type CrewParts, reviewerMs, type Someone } from './crew-parts.ts'
import { type Judged, type Judging, judge } from './judge.ts'
import { branchOf, folderOf, treeOf } from './places.ts'
import { refused } from './refused.ts'
import { runChecks } from './run-checks.ts'

/** One review: of which work, by whom. */
export type ReviewRound = {
  readonly number: number
  readonly commit: string
  readonly base: string
  readonly files: readonly ChangedFile[]
  readonly tasks: readonly PlanTask[]
  readonly checks: readonly RequiredCheck[]
  readonly rounds: readonly CrewRound[]
  readonly earlier: readonly ReviewFinding[]
  readonly unfinished: readonly UnfinishedTask[]
}

/** What a review gave. */
export type Reviewed = {
  readonly round: CrewRound
  /** What is left to be mended, when it is not approved. */
  readonly mend: readonly ReviewFinding[]
  readonly checks: readonly CheckRun[]
  readonly skipped: readonly Skipped[]
}

type Reviewing = Around & { readonly reviewers: readonly Someone[] }

/** A review in a work tree that is thrown away: the checks are really run, then all reviewers judge, and the rules decide. */
export const reviewRound = (around: Reviewing): Procedure<ReviewRound, Reviewed> => ({
  name: 'review',
  version: '1',
  async run(flow, given) {
    const { parts, input } = around
    const { number, commit, earlier, unfinished } = given
    const { workflowId } = flow.root()
    const name = `review-${number}`
    const path = treeOf(parts.worktrees, workflowId, name)
    const branch = branchOf(workflowId, { task_id: name })
    const untilMs = await flow.step('open', async ({ signal }) => {
      await parts.branches.openWorktree(input.repo.root, { path, branch, base: commit }, signal)
      return parts.clock.now() + reviewerMs(input)
    })
    const folder = folderOf(input, path)
    const { checks, skipped } = await runChecks(around, flow, {
      checks: given.checks,
      commit,
      folder,
      untilMs,
    })
    const judged = await judgedByAll(around, flow, { given, folder, checks })
    await flow.step('close', async ({ signal }) => {
      await undo(parts, { path, commit }, signal).catch(refused)
      await parts.branches.closeWorktree(input.repo.root, path, signal)
      await parts.branches.dropBranch(input.repo.root, branch, signal)
    })
    const [first, ...others] = judged.flatMap(({ by, reply }) => (reply ? [{ by, reply }] : []))
    const reply = first ? combineReviews(first, ...others) : reviewByChecks(checks, judged[0]?.why)
    const round = crewRound(
      number,
      reply,
      judgeReview({ reply, checks, earlier: first ? earlier : [], unfinished }),
    )
    return {
      round: { ...round, ...(judged.length > 1 && { reviews: judged.map(verdictOf) }) },
      mend: findingsToMend({ reply, checks, earlier, round: number, unfinished }),
      checks,
      skipped: [...skipped, ...judged.flatMap(silence)],
    }
  },
})

/** Whatever a reviewer did to the work tree is nobody's work. */
async function undo(
  { branches }: CrewParts,
  { path, commit }: { readonly path: string; readonly commit: string },
  signal: AbortSignal,
): Promise<void> {
  const { files } = await branches.changes(path, { from: commit }, signal)
  await branches.restore(path, { commit, files: files.map((file) => file.path) }, signal)
}

/** All reviewers side by side; each is heard before anybody decides. */
async function judgedByAll(
  around: Reviewing,
  flow: Flow,
  work: Pick<Judging, 'given' | 'folder' | 'checks'>,
): Promise<Judged[]> {
  const { reviewers } = around
  const children = reviewers.map((reviewer) =>
    flow.child(`by-${reviewer.id}`, judge(around), {
      ...work,
      reviewer,
      isOneOfSeveral: reviewers.length > 1,
    }),
  )
  const heard = await Promise.allSettled(children.map((child) => child.result()))
  return heard.map((one) => {
    if (one.status === 'rejected') throw one.reason
    return one.value
  })
}

const verdictOf = ({ by, verdict, reply, why }: Judged) => ({
  agent_id: by,
  verdict: reply ? verdict : null,
  summary: reply?.summary ?? `no verdict: ${why}`,
})

const silence = ({ by, reply, why = 'it gave no verdict' }: Judged): Skipped[] =>
  reply ? [] : [{ what: `the review by ${by}`, why }]
