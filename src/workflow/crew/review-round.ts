import type { CheckRun, CrewRound, Skipped } from '../../contract/collaboration/crew-report.ts'
import type { PlanTask, ReviewerReply } from '../../contract/collaboration/replies.ts'
import type { ReviewFinding } from '../../contract/session-file/outputs.ts'
import { findingsToFix } from '../../core/collaboration/after-review.ts'
import {
  combineReviews,
  type Judgement,
  judgeReview,
  reviewByChecks,
  type UnfinishedTask,
  withUnanswered,
} from '../../core/delegation/judge-review.ts'
import type { RequiredCheck } from '../../core/delegation/required-checks.ts'
import { crewRound } from '../../core/delegation/reviewer-work.ts'
import { draftOf } from '../../engine/sessions/drafts.ts'
import type { Flow, Procedure } from '../../ports/durable.ts'
import type { ChangedFile } from '../../ports/workspace.ts'
import type { Around } from './carry-out.ts'
import { reviewerMs, type Someone } from './crew-parts.ts'
import { type Judged, type Judging, judge } from './judge.ts'
import { runChecks } from './run-checks.ts'
import { inSpareTree } from './spare-tree.ts'

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
    const { number, commit, earlier, unfinished } = given
    const { checks, skipped, judged } = await inSpareTree(around, flow, {
      name: `review-${number}`,
      commit,
      act: async (folder) => {
        const ran = await runChecks(around, flow, {
          at: around.at,
          checks: given.checks,
          commit,
          folder,
          limitMs: reviewerMs(around.input),
        })
        return { ...ran, judged: await judgedByAll(around, flow, { given, folder, checks: ran.checks }) }
      },
    })
    const { reply, judgement } = decided(given, { checks, judged })
    if (judged.length > 0 && !judged.some(isHeard)) await tellDecision(around, flow, { reply, judgement })
    const round = crewRound(number, reply, judgement)
    return {
      round: { ...round, ...(judged.length > 1 && { reviews: judged.map(verdictOf) }) },
      mend: findingsToFix({ reply, checks, earlier, round: number, unfinished }),
      checks,
      skipped: [...skipped, ...judged.flatMap(silence)],
    }
  },
})

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

/** A review that nobody gave comes from the rules, and is told as their decision. */
async function tellDecision(
  { at, orchestrator }: Reviewing,
  flow: Flow,
  { reply, judgement }: { readonly reply: ReviewerReply; readonly judgement: Judgement },
): Promise<void> {
  const { verdict, reasons } = judgement
  await flow.step('decide', async ({ tell }) => {
    tell(
      draftOf({ ...at, actor: orchestrator }, 'decision.made', {
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
