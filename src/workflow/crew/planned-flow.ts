import type { CrewRound } from '../../contract/collaboration/crew-report.ts'
import type { Plan, PlanTask } from '../../contract/collaboration/replies.ts'
import { derivedSpan } from '../../contract/derived-ids.ts'
import {
  type AfterReview,
  afterAnswer,
  afterReview,
  answerDecision,
  newestWork,
  type Revision,
  revise,
} from '../../core/collaboration/after-review.ts'
import {
  newestAfterSplits,
  rootTask,
  type TaskSplit,
  tasksAfterSplits,
} from '../../core/collaboration/planned-work.ts'
import { type Work } from '../../core/delegation/developer-work.ts'
import type { UnfinishedTask } from '../../core/delegation/judge-review.ts'
import { requiredChecks } from '../../core/delegation/required-checks.ts'
import { whatIsMissing } from '../../core/delegation/task-failure.ts'
import { draftOf } from '../../engine/sessions/drafts.ts'
import type { CrewRun, Ending } from './crew-run.ts'
import { type Delegated, delegate } from './delegate.ts'
import { doneTasks } from './done-tasks.ts'
import { askAboutRound, recordEscalation } from './escalate.ts'
import { integrate } from './integrate.ts'
import { folderOf } from './places.ts'
import { planWork, type Rejection } from './plan-work.ts'
import { review } from './review.ts'

/** Rounds of work and review until it is good, or there may be no more. */
export async function plannedFlow(run: CrewRun): Promise<Ending> {
  const { limits, onMaxIterations } = run.input.crew
  let plans = 1
  let plan = await makePlan(run, plans)
  let work: readonly Work[] = plan.tasks.map((task) => ({ task, attempts: [] }))
  let newest = work
  let base = run.input.repo.base
  let iterations = 0
  let maxIterations = limits.maxIterations
  let order: readonly string[] = []
  for (let number = 1; ; number++) {
    order = [...new Set([...order, ...work.map(({ task }) => rootTask(task.task_id))])]
    const done = await workRound(run, { number, plan, work, base, order })
    if (!done.round) return { outcome: 'aborted', summary: done.why }
    const { round, splits } = done
    order = done.order
    plan = { ...plan, tasks: tasksAfterSplits(plan.tasks, splits) }
    newest = newestAfterSplits(newest, splits)
    base = done.commit
    const after = afterReview({
      verdict: round.verdict,
      iterations,
      maxIterations,
      onLimit: onMaxIterations,
    })
    iterations = after.iterations
    const next = await escalated(run, { number, after, verdict: round.verdict })
    if (next.isOneMore) maxIterations += 1
    if (next.to === 'complete') return { outcome: 'approved', summary: round.summary }
    if (next.to === 'force_approve') return { outcome: 'force_approved', summary: round.summary }
    if (next.to === 'abort') return { outcome: 'unapproved', summary: round.summary }
    const findings = run.mend
    const revisions = await iterate(run, { number, to: next.to, plan, work: newest })
    if (revisions) {
      work = revisions
      newest = newestWork(newest, revisions)
    } else {
      plans += 1
      plan = await makePlan(run, plans, { round, findings, taken: [...run.tasks.keys()] })
      work = plan.tasks.map((task) => ({ task, attempts: [] }))
      newest = work
    }
  }
}

type Iterating = {
  readonly number: number
  readonly to: 'revise' | 'replan'
  readonly plan: Plan
  readonly work: readonly Work[]
}

/** What a review left to be mended as revisions of tasks; nothing when it goes back to be planned anew. */
function iterate(
  run: CrewRun,
  { number, to, plan, work }: Iterating,
): Promise<readonly Revision[] | undefined> {
  const findings = run.mend
  const given = { key: `iterate-${number}`, inputCount: findings.length }
  return run.stages.run('iterate', given, async () => {
    if (to === 'replan') return { value: undefined, count: 0, edge: 'analyze' }
    const value = revise({ round: number, plan: plan.tasks, work, findings })
    return { value, count: value.length, edge: 'delegate' }
  })
}

type Next = {
  readonly to: 'complete' | 'revise' | 'replan' | 'force_approve' | 'abort'
  readonly isOneMore: boolean
}

/** Where the work goes; at the limit of the rounds what the crew says, and what a person says where it says that. */
async function escalated(
  run: CrewRun,
  { number, after, verdict }: { number: number; after: AfterReview; verdict: CrewRound['verdict'] },
): Promise<Next> {
  if (!('decision' in after)) return { to: after.next, isOneMore: false }
  const by = run.orchestrator
  await recordEscalation(run.flow, { name: `escalated-${number}`, by, decision: after.decision })
  if (after.next !== 'human_review') return { to: after.next, isOneMore: false }
  const answer = await askAboutRound(run.flow, { number, rounds: run.rounds })
  const decision = answerDecision(answer)
  await recordEscalation(run.flow, { name: `answered-${number}`, by: 'operator', decision })
  return { to: afterAnswer(answer, verdict), isOneMore: answer === 'iterate' }
}

function makePlan(run: CrewRun, n: number, rejection?: Rejection): Promise<Plan> {
  const { planner, challenger } = run
  return planWork(
    {
      parts: run.parts,
      flow: run.flow,
      stages: run.stages,
      input: run.input,
      folder: folderOf(run.input, run.path),
      planner,
      challenger,
      talk: run.talk,
      atOnce: run.atOnce,
      skip: (skipped) => void run.skipped.push(skipped),
      checks: requiredChecks(run.input.crew.checks, undefined).map(({ command }) => command),
    },
    n,
    rejection,
  )
}

type Round = {
  readonly number: number
  readonly plan: Plan
  readonly work: readonly Work[]
  /** The commit that the tasks begin at. */
  readonly base: string
  /** Every task of the collaboration, by the name that it has in its plan. */
  readonly order: readonly string[]
}

async function workRound(
  run: CrewRun,
  given: Round,
): Promise<
  | { round: CrewRound; commit: string; splits: readonly TaskSplit[]; order: readonly string[] }
  | { round: undefined; why: string }
> {
  const { number, plan, work } = given
  const flow = run.flow
  const { maxIterations: maxRounds } = run.input.crew.limits
  const span = { spanId: derivedSpan(`${flow.id} round ${number}`), parentSpanId: flow.root().spanId }
  await flow.step(`round-${number}`, async ({ tell }) => {
    tell(draftOf({ ...flow.root(), ...span }, 'loop.round.started', { round: number, maxRounds }))
  })
  const ended = (round: CrewRound | undefined, reason?: string) =>
    flow.step(`round-${number}-over`, async ({ tell }) => {
      tell(
        draftOf({ ...flow.root(), ...span }, 'loop.round.completed', {
          round: number,
          maxRounds,
          ...(round && { verdict: round.verdict }),
          ...(reason && { reason: reason.slice(0, 1000) }),
        }),
      )
    })
  const delegated = await handOut(run, given)
  const why = await collect(run, number, { work, delegated })
  if (why !== undefined) {
    await ended(undefined, why)
    return { round: undefined, why }
  }
  const { splits, order } = delegated
  const tasks = delegated.work.map(({ task }) => task)
  const commit = await putTogether(run, number, tasks)
  const round = await review(run, {
    number,
    commit,
    tasks: tasksAfterSplits(plan.tasks, splits),
    checks: requiredChecks(run.input.crew.checks, plan.checks),
    base: run.input.repo.base,
    unfinished: unfinishedOf(delegated),
  })
  await ended(round, round.summary)
  return { round, commit, splits, order }
}

function handOut(run: CrewRun, { number, plan, work, base, order }: Round): Promise<Delegated> {
  const { developers, planner } = run
  return run.stages.run('delegate', { key: `delegate-${number}`, inputCount: work.length }, async (at) => {
    const value = await delegate({
      ...run.around(at),
      flow: run.flow,
      round: number,
      work,
      base,
      developers,
      order,
      planner,
      atOnce: run.atOnce,
      checks: requiredChecks(run.input.crew.checks, plan.checks),
    })
    return { value, count: value.results.size }
  })
}

/** Takes note of what came of each task; answers why there is nothing to go on with. */
function collect(
  run: CrewRun,
  number: number,
  { work, delegated }: { work: readonly Work[]; delegated: Delegated },
): Promise<string | undefined> {
  return run.stages.run('collect', { key: `collect-${number}`, inputCount: work.length }, async () => {
    for (const one of doneTasks(work, delegated)) run.tasks.set(one.task_id, one)
    const undone = delegated.work.filter(
      ({ task }) => !['completed', 'partial'].includes(delegated.states[task.task_id] ?? ''),
    )
    const first = undone[0]?.task.task_id
    const value =
      first === undefined
        ? undefined
        : `${undone.map(({ task }) => task.task_id).join(', ')} could not be done: ${run.tasks.get(first)?.because ?? 'it never began'}`
    return { value, count: delegated.results.size }
  })
}

function putTogether(run: CrewRun, number: number, tasks: readonly PlanTask[]): Promise<string> {
  const [resolver] = run.developers
  if (!resolver) throw new Error('a crew without developers has nothing to put together')
  return run.stages.run('integrate', { key: `integrate-${number}`, inputCount: tasks.length }, async (at) => {
    const value = await integrate({
      ...run.around(at),
      flow: run.flow,
      round: number,
      path: run.path,
      tasks,
      resolver,
    })
    return { value, count: tasks.length }
  })
}

const unfinishedOf = ({ work, states, results }: Delegated): UnfinishedTask[] =>
  work
    .map(({ task }) => task.task_id)
    .filter((id) => states[id] === 'partial')
    .flatMap((task_id) => {
      const result = results.get(task_id)
      return result ? [{ task_id, why: whatIsMissing({ ...result.output, failure: result.failure }) }] : []
    })
