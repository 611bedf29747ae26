import type { CheckRun } from '../../contract/collaboration/crew-report.ts'
import type { ReviewerReply } from '../../contract/collaboration/replies.ts'
import { derivedSpan } from '../../contract/derived-ids.ts'
import { assignmentPrompt } from '../../core/delegation/assignment.ts'
import {
  assignedFact,
  assignmentMessage,
  completedFact,
  endMessage,
  failedFact,
  findingFacts,
  lineOf,
} from '../../core/delegation/delegation-facts.ts'
import { reviewerOutcome } from '../../core/delegation/delegation-outcome.ts'
import { readReview } from '../../core/delegation/read-work-replies.ts'
import { reviewerInput } from '../../core/delegation/reviewer-work.ts'
import { askAgent } from '../../engine/delegation/ask-agent.ts'
import { draftOf } from '../../engine/sessions/drafts.ts'
import type { Procedure } from '../../ports/durable.ts'
import type { ChangedFile } from '../../ports/workspace.ts'
import type { Around } from './carry-out.ts'
import { reviewerMs, type Someone, workerOf } from './crew-parts.ts'
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
    const delegation = {
      assignment: { kind: 'reviewer', taskId: work.reviewId, input: asked },
      from: orchestrator,
      to: reviewer.id,
      about: `Review round ${given.number}`,
    } as const
    const messageId = await talk.say(flow, 'request', {
      utterance: assignmentMessage(delegation),
      facts: [
        draftOf(
          { ...place, parentSpanId: around.at.spanId },
          'agent.task.assigned',
          assignedFact(delegation),
        ),
      ],
    })
    const { end, reply: answer } = await askAgent(around.parts, flow, {
      at: place,
      question: {
        name: 'agent',
        who: workerOf(reviewer),
        prompt: assignmentPrompt(delegation.assignment, {
          review: { ran: checks, stat: statOf(given.files), base: given.base, earlier: given.earlier },
        }),
        read: (text) =>
          readReview(text, {
            round: given.number,
            earlier: given.earlier,
            ...(isOneOfSeveral && { by: reviewer.id }),
          }),
        resultSchema: 'reply:reviewer',
        folder,
        timeoutMs: reviewerMs(input),
        taskId: work.reviewId,
        about: delegation.about,
        messageId,
      },
    })
    const by = { ...place, actor: reviewer.id }
    const outcome = reviewerOutcome(delegation.assignment, {
      end,
      reply: answer,
      checks,
      earlier: given.earlier,
      unfinished: given.unfinished,
    })
    if ('failure' in outcome) {
      const { failure } = outcome
      await flow.step('unanswered', async ({ tell }) => {
        tell(draftOf(by, 'task.failed', failedFact(reviewer.id, failure)))
      })
      await talk.callOff(flow, 'call-off', { taskId: work.reviewId, reason: lineOf(failure.error) })
      return { by: reviewer.id, why: failure.error }
    }
    const { output, reply } = outcome
    await talk.say(flow, 'result', {
      utterance: endMessage(delegation, output),
      facts: [
        ...findingFacts(work.reviewId, reply.findings).map((fact) =>
          draftOf(by, 'verifier.issue.found', fact),
        ),
        draftOf(by, 'task.completed', completedFact(reviewer.id, { summary: reply.summary, output })),
      ],
    })
    return { by: reviewer.id, verdict: output.verdict, reply }
  },
})

const statOf = (files: readonly ChangedFile[]): string =>
  files
    .map(({ path, change, added, removed }) => `${change} ${path} +${added ?? '?'} -${removed ?? '?'}`)
    .join('\n')
