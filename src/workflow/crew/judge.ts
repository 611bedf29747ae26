import type { CheckRun } from '../../contract/collaboration/crew-report.ts'
import type { ReviewerReply } from '../../contract/collaboration/replies.ts'
import { derivedSpan } from '../../contract/derived-ids.ts'
import { judgeReview } from '../../core/collaboration/judge-review.ts'
import { readReview } from '../../core/collaboration/read-crew-replies.ts'
import { reviewerInput, reviewerOutput } from '../../core/collaboration/reviewer-work.ts'
import { taskFailure } from '../../core/collaboration/task-failure.ts'
import { reviewerPrompt } from '../../core/collaboration/work-prompts.ts'
import { draftOf } from '../../engine/sessions/drafts.ts'
import type { Procedure } from '../../ports/durable.ts'
import type { ChangedFile } from '../../ports/workspace.ts'
import { agentWork } from './agent-work.ts'
import type { Around } from './carry-out.ts'
import { reviewerMs, type Someone } from './crew-parts.ts'
import type { ReviewRound } from './review-round.ts'

/** What a reviewer is to judge. */
export type Judging = {
  readonly given: ReviewRound
  readonly reviewer: Someone
  /** Others judge the same work. */
  readonly isOneOfSeveral: boolean
  readonly folder: string
  readonly checks: readonly CheckRun[]
}

/** What it said and what that comes to; without an answer, why there is none. */
export type Judged = { readonly by: string } & (
  | { readonly reply: ReviewerReply; readonly verdict: ReviewerReply['verdict'] }
  | { readonly why: string }
)

/** One reviewer at the work of one round: asked and heard; one that gives no answer has failed, and nobody speaks for it. */
export const judge = (around: Around): Procedure<Judging, Judged> => ({
  name: 'judge',
  version: '1',
  async run(flow, { given, reviewer, isOneOfSeveral, folder, checks }) {
    const { talk, orchestrator, input } = around
    const suffix = isOneOfSeveral ? `-${reviewer.id}` : ''
    const work = {
      reviewId: `review-${given.number}${suffix}`,
      taskId: given.tasks.at(-1)?.task_id ?? 'request',
      request: input.request,
      files: given.files.map(({ path }) => path),
      tasks: given.tasks,
      checks: given.checks,
      rounds: given.rounds,
    }
    const asked = reviewerInput(work)
    talk.join({ agentId: reviewer.id, agentType: reviewer.member.role })
    const place = { ...flow.root(), spanId: derivedSpan(`${flow.id} task`), taskId: work.reviewId }
    const messageId = await talk.say(flow, 'request', {
      utterance: { from: orchestrator, to: reviewer.id, type: 'review_request', payload: asked },
      facts: [
        draftOf({ ...place, parentSpanId: around.at.spanId }, 'agent.task.assigned', {
          taskId: work.reviewId,
          description: `Review round ${given.number}`,
          agentId: reviewer.id,
          assignedBy: orchestrator,
          input: asked,
        }),
      ],
    })
    const { end, reply } = await agentWork(around.parts, flow, {
      at: place,
      work: {
        name: 'agent',
        who: reviewer,
        prompt: reviewerPrompt({
          input: asked,
          stat: statOf(given.files),
          base: given.base,
          checks,
          earlier: given.earlier,
        }),
        read: (text) =>
          readReview(text, {
            round: given.number,
            earlier: given.earlier,
            ...(isOneOfSeveral && { by: reviewer.id }),
          }),
        answer: 'reviewer',
        folder,
        timeoutMs: reviewerMs(input),
        taskId: work.reviewId,
        about: `Review round ${given.number}`,
        messageId,
      },
    })
    const by = { ...place, actor: reviewer.id }
    if (!reply) {
      const { kind, error } = taskFailure({ end, reply, scope: [], outside: [], left: [] }) ?? unreadable
      const reason = error.replaceAll(/\s+/g, ' ').slice(0, 1000)
      await flow.step('unanswered', async ({ tell }) => {
        tell(
          draftOf(by, 'task.failed', { agentId: reviewer.id, reason, errorType: kind, recoverable: false }),
        )
      })
      await talk.callOff(flow, 'call-off', { taskId: work.reviewId, reason })
      return { by: reviewer.id, why: error }
    }
    const { verdict } = judgeReview({
      reply,
      checks,
      earlier: given.earlier,
      unfinished: given.unfinished,
    })
    const output = reviewerOutput(work, reply, { verdict, checks })
    await talk.say(flow, 'result', {
      utterance: { from: reviewer.id, to: orchestrator, type: 'review_result', payload: output },
      facts: [
        ...reply.findings.map((finding) =>
          draftOf(by, 'verifier.issue.found', {
            findingId: finding.finding_id,
            severity: finding.severity,
            category: finding.category,
            description: finding.description,
            reviewId: work.reviewId,
            ...(finding.file && { file: finding.file }),
            ...(finding.line !== undefined && { line: finding.line }),
            ...(finding.suggestion !== undefined && { suggestion: finding.suggestion }),
            ...(finding.rationale !== undefined && { rationale: finding.rationale }),
          }),
        ),
        draftOf(by, 'task.completed', {
          agentId: reviewer.id,
          summary: reply.summary.slice(0, 2000),
          output,
        }),
      ],
    })
    return { by: reviewer.id, verdict, reply }
  },
})

const unreadable = { kind: 'exception', error: 'no answer that can be read' } as const

const statOf = (files: readonly ChangedFile[]): string =>
  files
    .map(({ path, change, added, removed }) => `${change} ${path} +${added ?? '?'} -${removed ?? '?'}`)
    .join('\n')
