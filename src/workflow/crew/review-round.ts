import type { CheckRun, CrewRound, Skipped } from '../../contract/collaboration/crew-report.ts'
import type { PlanTask } from '../../contract/collaboration/plan.ts'
import type { ReviewerReply } from '../../contract/collaboration/replies.ts'
import type { ReviewFinding } from '../../contract/formats/std-008/reviewer.ts'
import { findingsToMend } from '../../core/collaboration/findings-to-mend.ts'
import { failedChecks, judgeReview } from '../../core/collaboration/judge-review.ts'
import { reviewerPrompt } from '../../core/collaboration/prompts/reviewer-prompt.ts'
import { readReview } from '../../core/collaboration/replies/read-review.ts'
import { checkNames, type RequiredCheck } from '../../core/collaboration/required-checks.ts'
import { crewRound, reviewerInput, reviewerOutput } from '../../core/collaboration/review-work.ts'
import { derivedSpan } from '../../core/session-log/derived-ids.ts'
import { draftOf } from '../../engine/sessions/drafts.ts'
import type { Flow, FlowRoot, Procedure } from '../../ports/durable.ts'
import type { WorkEnd } from '../../ports/workers.ts'
import type { ChangedFile } from '../../ports/workspace.ts'
import { agentWork } from './agent-work.ts'
import type { Conversation } from './conversation.ts'
import { type CrewInput, type CrewParts, reviewerMs, type Someone } from './crew-parts.ts'
import { branchOf, folderOf, treeOf } from './places.ts'
import { refused } from './refused.ts'

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
}

/** What a review gave. */
export type Reviewed = {
  readonly round: CrewRound
  /** What is left to be mended, when it is not approved. */
  readonly mend: readonly ReviewFinding[]
  readonly checks: readonly CheckRun[]
  readonly skipped: readonly Skipped[]
}

type Around = {
  readonly parts: CrewParts
  readonly input: CrewInput
  readonly talk: Conversation
  readonly orchestrator: string
  readonly reviewer: Someone | undefined
  readonly at: FlowRoot
}

const outputChars = 4000

/** A review in a work tree that is thrown away: the checks are really run, then a reviewer judges, and the rules decide. */
export const reviewRound = (around: Around): Procedure<ReviewRound, Reviewed> => ({
  name: 'review',
  version: '1',
  async run(flow, given) {
    const { parts, input } = around
    const { workflowId } = flow.root()
    const name = `review-${given.number}`
    const path = treeOf(parts.worktrees, workflowId, name)
    const branch = branchOf(workflowId, { task_id: name })
    const until = await flow.step('open', async ({ signal }) => {
      await parts.branches.openWorktree(input.repo.root, { path, branch, base: given.commit }, signal)
      return parts.clock.now() + reviewerMs(input)
    })
    const folder = folderOf(input, path)
    const { checks, skipped } = await runChecks(around, flow, { given, folder, until })
    const judged = await judge(around, flow, { given, folder, checks })
    await flow.step('close', async ({ signal }) => {
      await undo(parts, { path, commit: given.commit }, signal).catch(refused)
      await parts.branches.closeWorktree(input.repo.root, path, signal)
      await parts.branches.dropBranch(input.repo.root, branch, signal)
    })
    const { round, reply } = judged
    const mend = findingsToMend({ reply, checks, earlier: given.earlier, round: given.number })
    return { round, mend, checks, skipped: [...skipped, ...judged.skipped] }
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

type InReview = { readonly given: ReviewRound; readonly folder: string }

/** Required checks are run however long they take; others only while there is time. */
async function runChecks(
  { parts, input, at }: Around,
  flow: Flow,
  { given, folder, until }: InReview & { readonly until: number },
): Promise<{ checks: CheckRun[]; skipped: Skipped[] }> {
  const checks: CheckRun[] = []
  const skipped: Skipped[] = []
  for (const check of given.checks) {
    const { name, command } = check
    const run = await flow.step(`check:${name}`, async ({ signal, tell }): Promise<CheckRun> => {
      if (isOptional(check) && parts.clock.now() > until)
        return { name, command, required: true, passed: null, because: 'the time for the review was over' }
      const timeoutMs = reviewerMs(input)
      const { passed, output, durationMs, exitCode } = await parts.checks.run(
        command,
        { folder, timeoutMs },
        signal,
      )
      const shown = { command, commit: given.commit, output: output.slice(-outputChars), durationMs }
      tell(
        draftOf({ ...flow.root(), parentSpanId: at.spanId }, passed ? 'test.passed' : 'test.failed', shown),
      )
      const because = passed ? undefined : `it ended with ${exitCode ?? 'no'} exit code`
      return {
        name,
        command,
        required: true,
        passed,
        output: output.slice(-outputChars),
        duration_ms: durationMs,
        ...(because && { because }),
      }
    })
    const isSkipped = run.passed === null
    checks.push(isSkipped ? { ...run, required: false } : run)
    if (isSkipped) skipped.push({ what: `the check ${name}`, why: run.because ?? 'it was not run' })
  }
  return { checks, skipped }
}

/** Tests and types are always checked; what else there is may be left out when the time is over. */
const isOptional = ({ name }: RequiredCheck): boolean =>
  name !== checkNames.test && name !== checkNames.typeCheck

type Judging = InReview & { readonly checks: readonly CheckRun[] }

async function judge(around: Around, flow: Flow, { given, folder, checks }: Judging) {
  const { talk, orchestrator, reviewer, input } = around
  if (!reviewer) {
    const reply = byChecks(checks)
    return {
      reply,
      round: crewRound(given.number, reply, judgeReview({ reply, checks, earlier: [] })),
      skipped: [],
    }
  }
  const work = {
    reviewId: `review-${given.number}`,
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
  await talk.say(flow, 'request', {
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
      read: (text) => readReview(text, { round: given.number, earlier: given.earlier }),
      folder,
      timeoutMs: reviewerMs(input),
      taskId: work.reviewId,
    },
  })
  const said = reply ?? unsaid(checks, end)
  const judgement = judgeReview({ reply: said, checks, earlier: reply ? given.earlier : [] })
  const output = reviewerOutput(work, said, { verdict: judgement.verdict, checks })
  const by = { ...place, actor: reviewer.id }
  await talk.say(flow, 'result', {
    utterance: { from: reviewer.id, to: orchestrator, type: 'review_result', payload: output },
    facts: [
      ...said.findings.map((finding) =>
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
      draftOf(by, 'task.completed', { agentId: reviewer.id, summary: said.summary.slice(0, 2000), output }),
    ],
  })
  const skipped = reply
    ? []
    : [{ what: `the review by ${reviewer.id}`, why: end.reason ?? 'it gave no verdict' }]
  return { reply: said, round: crewRound(given.number, said, judgement), skipped }
}

/** Without a reviewer the checks decide. */
function byChecks(checks: readonly CheckRun[]): ReviewerReply {
  const verdict = failedChecks(checks).length === 0 ? 'approved' : 'changes_requested'
  return { verdict, summary: summaryOf(checks), findings: [] }
}

/** A reviewer that gave no verdict in time: the required checks decide, and it is said that nobody looked. */
function unsaid(checks: readonly CheckRun[], end: WorkEnd): ReviewerReply {
  const reply = byChecks(checks)
  const why = end.reason ?? 'no answer that can be read'
  return {
    ...reply,
    summary: `The reviewer gave no verdict (${why}); the required checks decide. ${reply.summary}`,
  }
}

const summaryOf = (checks: readonly CheckRun[]): string =>
  checks.length === 0
    ? 'There were no checks to run.'
    : checks
        .map(({ name, passed }) => `${name}: ${passed === null ? 'not run' : passed ? 'passed' : 'failed'}`)
        .join(', ')

const statOf = (files: readonly ChangedFile[]): string =>
  files
    .map(({ path, change, added, removed }) => `${change} ${path} +${added ?? '?'} -${removed ?? '?'}`)
    .join('\n')
