import type { CheckRun, CrewRound, Skipped } from '../../contract/collaboration/crew-report.ts'
import type { PlanTask, ReviewerReply } from '../../contract/collaboration/replies.ts'
import type { SpanId } from '../../contract/ids.ts'
import type { ReviewFinding } from '../../contract/session-file/outputs.ts'
import { findingsToFix } from '../../core/collaboration/after-review.ts'
import { settledFindings } from '../../core/collaboration/crew-report.ts'
import { assignmentPrompt } from '../../core/delegation/assignment.ts'
import {
  combineReviews,
  type Judgement,
  judgeReview,
  reviewByChecks,
  type UnfinishedTask,
  withUnanswered,
} from '../../core/delegation/judge-review.ts'
import type { RequiredCheck } from '../../core/delegation/required-checks.ts'
import { crewRound, reviewerInput } from '../../core/delegation/reviewer-work.ts'
import { delegate } from '../../engine/delegation/delegate.ts'
import { closeRound } from '../../engine/delegation/record-work.ts'
import { runChecks } from '../../engine/delegation/run-checks.ts'
import { inSpareTree } from '../../engine/delegation/spare-tree.ts'
import { draftOf } from '../../engine/sessions/drafts.ts'
import type { Flow, Procedure } from '../../ports/durable.ts'
import type { ChangedFile } from '../../ports/workspace.ts'
import { branchOf, type Someone, treeOf, workerOf } from './crew-parts.ts'
import type { CrewRun } from './crew-run.ts'

/** What is to be reviewed. */
type Reviewable = {
  readonly number: number
  readonly tasks: readonly PlanTask[]
  readonly checks: readonly RequiredCheck[]
  readonly base: string
  readonly commit: string
  /** Tasks of which only a part is done. */
  readonly unfinished?: readonly UnfinishedTask[]
}

/** Has work reviewed, and takes note of what came of it; the round is over with that. */
export function reviewWork(crew: CrewRun, given: Reviewable): Promise<CrewRound> {
  const { flow, state, parts, input, talk } = crew
  const { number, commit, base, tasks } = given
  return crew.phases.run('review', { key: `review-${number}`, inputCount: tasks.length }, async (node) => {
    const { files } = await flow.step(`changes-${number}`, ({ signal }) =>
      parts.branches.changes(input.repo.root, { from: base, to: commit }, signal),
    )
    const child = flow.child(`r${number}/review`, crew.review, {
      ...given,
      files,
      rounds: state.rounds,
      earlier: settledFindings(state.rounds).open,
      unfinished: given.unfinished ?? [],
      nodeId: node.spanId,
    })
    const { round, toFix, checks, skipped } = await child.result()
    const { verdict, summary: reason } = round
    await closeRound(talk, flow, { name: `round-${number}-over`, root: flow.root(), verdict, reason })
    state.toFix = toFix
    state.rounds.push(round)
    state.checks = checks
    state.skipped.push(...skipped)
    return { value: round, count: round.findings.length }
  })
}

/** One review as data: of which work, after which rounds. */
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
  /** The node that it hangs under. */
  readonly nodeId: SpanId
}

/** What a review gave. */
export type Reviewed = {
  readonly round: CrewRound
  /** What is left to be fixed, when it is not approved. */
  readonly toFix: readonly ReviewFinding[]
  readonly checks: readonly CheckRun[]
  readonly skipped: readonly Skipped[]
}

/** A review in a work tree that is thrown away: the checks are really run, then all reviewers judge, and the rules decide. */
export function reviewProcedure(crew: CrewRun): Procedure<ReviewRound, Reviewed> {
  const judge = judgeProcedure(crew)
  return {
    name: 'review',
    version: '2',
    async run(flow, given) {
      const { parts, input, reviewers, reviewerMs: limitMs } = crew
      const { number, commit, earlier, unfinished } = given
      const { root, inside } = input.repo
      const { workflowId: id } = flow.root()
      const name = `review-${number}`
      const { checks, skipped, judged } = await inSpareTree(parts.branches, flow, {
        root,
        inside,
        commit,
        path: treeOf(parts.worktrees, id, name),
        branch: branchOf(id, { task_id: name }),
        act: async (folder) => {
          const at = { ...flow.root(), spanId: given.nodeId }
          const ran = await runChecks(parts.checks, flow, {
            at,
            checks: given.checks,
            commit,
            folder,
            timeoutMs: limitMs,
            limitMs,
          })
          const children = reviewers.map((reviewer) =>
            flow.child(`by-${reviewer.id}`, judge, {
              given,
              reviewer,
              folder,
              checks: ran.checks,
              isOneOfSeveral: reviewers.length > 1,
            }),
          )
          return { ...ran, judged: await allHeard(children) }
        },
      })
      const { reply, judgement } = decided(given, { checks, judged })
      if (judged.length > 0 && !judged.some(isHeard)) await tellDecision(flow, { given, reply, judgement })
      const round = crewRound(number, reply, judgement)
      return {
        round: { ...round, ...(judged.length > 1 && { reviews: judged.map(verdictOf) }) },
        toFix: findingsToFix({ reply, checks, earlier, round: number, unfinished }),
        checks,
        skipped: [...skipped, ...judged.flatMap(silence)],
      }
    },
  }
}

/** All reviewers side by side; each is heard before anybody decides. */
async function allHeard(children: readonly { readonly result: () => Promise<Judged> }[]): Promise<Judged[]> {
  const heard = await Promise.allSettled(children.map((child) => child.result()))
  return heard.map((one) => {
    if (one.status === 'rejected') throw one.reason
    return one.value
  })
}

/** What a reviewer is to judge. */
type Judging = {
  readonly given: ReviewRound
  readonly reviewer: Someone
  /** Others judge the same work. */
  readonly isOneOfSeveral: boolean
  readonly folder: string
  readonly checks: readonly CheckRun[]
}

/** What it said and what that comes to; without an answer, why there is none. */
type Judged = { readonly by: string } & (
  | { readonly reply: ReviewerReply; readonly verdict: ReviewerReply['verdict'] }
  | { readonly why: string }
)

/** One reviewer at the work of one round; one that gives no answer has failed, and nobody speaks for it. */
const judgeProcedure = (crew: CrewRun): Procedure<Judging, Judged> => ({
  name: 'judge',
  version: '2',
  async run(flow, { given, reviewer, isOneOfSeveral, folder, checks }) {
    const { number, earlier, unfinished, files, base } = given
    const reviewId = `review-${number}${isOneOfSeveral ? `-${reviewer.id}` : ''}`
    const input = reviewerInput({
      reviewId,
      taskId: given.tasks.at(-1)?.task_id ?? 'request',
      request: crew.input.request,
      files: files.map(({ path }) => path),
      tasks: given.tasks,
      checks: given.checks,
      rounds: given.rounds,
    })
    const assignment = { kind: 'reviewer', taskId: reviewId, input } as const
    const { output, value, failure } = await delegate(crew.delegationParts(), flow, {
      assignment,
      allowed: { scopes: [], timeoutMs: crew.reviewerMs },
      from: crew.orchestrator,
      to: workerOf(reviewer),
      prompt: assignmentPrompt(assignment, { review: { ran: checks, stat: statOf(files), base, earlier } }),
      place: { kind: 'shared', folder },
      parentSpanId: given.nodeId,
      about: `Review round ${number}`,
      maxIterations: crew.input.crew.limits.maxIterations,
      progressMs: crew.input.crew.limits.progressSeconds * 1000,
      review: {
        round: number,
        earlier,
        unfinished,
        ran: checks,
        ...(isOneOfSeveral && { by: reviewer.id }),
      },
    })
    return output && 'verdict' in output
      ? { by: reviewer.id, verdict: output.verdict, reply: value as ReviewerReply }
      : { by: reviewer.id, why: failure?.error ?? 'it gave no verdict' }
  },
})

const statOf = (files: readonly ChangedFile[]): string =>
  files
    .map(({ path, change, added, removed }) => `${change} ${path} +${added ?? '?'} -${removed ?? '?'}`)
    .join('\n')

type Heard = Extract<Judged, { reply: unknown }>
const isHeard = (judged: Judged): judged is Heard => 'reply' in judged

/** What counts of all that was said; where somebody was silent, what nobody answered stays open. */
function decided(
  { earlier, unfinished }: ReviewRound,
  { checks, judged }: { readonly checks: readonly CheckRun[]; readonly judged: readonly Judged[] },
): { readonly reply: ReviewerReply; readonly judgement: Judgement } {
  const [first, ...others] = judged.filter(isHeard)
  if (!first) return reviewByChecks({ checks, earlier, unfinished, why: judged[0] && whyOf(judged[0]) })
  const said = combineReviews(first, ...others)
  const reply = judged.every(isHeard) ? said : withUnanswered(said, earlier)
  return { reply, judgement: judgeReview({ reply, checks, earlier, unfinished }) }
}

type Decided = {
  readonly given: ReviewRound
  readonly reply: ReviewerReply
  readonly judgement: Judgement
}

/** A review that nobody gave comes from the rules, and is told as their decision. */
async function tellDecision(flow: Flow, { given, reply, judgement }: Decided): Promise<void> {
  const { verdict, reasons } = judgement
  await flow.step('decide', async ({ tell }) => {
    tell(
      draftOf({ ...flow.root(), spanId: given.nodeId }, 'decision.made', {
        subject: 'approach',
        candidates: ['approved', 'changes_requested'],
        choice: verdict,
        reason: [reply.summary, ...reasons].join('; '),
      }),
    )
  })
}

const whyOf = (judged: Judged): string | undefined => (isHeard(judged) ? undefined : judged.why)

const verdictOf = (judged: Judged) =>
  isHeard(judged)
    ? { agent_id: judged.by, verdict: judged.verdict, summary: judged.reply.summary }
    : { agent_id: judged.by, verdict: null, summary: `no verdict: ${judged.why}` }

const silence = (judged: Judged): Skipped[] =>
  isHeard(judged) ? [] : [{ what: `the review by ${judged.by}`, why: judged.why }]
