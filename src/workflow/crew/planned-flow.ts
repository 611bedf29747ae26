import type { CrewRound } from '../../contract/collaboration/crew-report.ts'
import type { Plan } from '../../contract/collaboration/replies.ts'
import { newestWork } from '../../core/collaboration/after-review.ts'
import { newestAfterSplits, rootTask, tasksAfterSplits } from '../../core/collaboration/planned-work.ts'
import { type Work } from '../../core/delegation/developer-work.ts'
import type { UnfinishedTask } from '../../core/delegation/judge-review.ts'
import { type RequiredCheck, requiredChecks } from '../../core/delegation/required-checks.ts'
import { whatIsMissing } from '../../core/delegation/task-failure.ts'
import { closeRound } from '../../engine/delegation/record-work.ts'
import { reviewWork } from './crew-review.ts'
import type { CrewRun, Ending } from './crew-run.ts'
import { type Delegated, delegateTasks, doneTasks } from './delegate-tasks.ts'
import { integrate } from './integrate.ts'
import { iterate } from './iterate.ts'
import { makePlan } from './make-plan.ts'

/** Where a crew stands between two rounds. */
export type Standing = {
  /** The round, from 1. */
  number: number
  plans: number
  plan: Plan
  /** What is to be done in the round. */
  work: readonly Work[]
  /** The newest work of each task of the plan. */
  newest: readonly Work[]
  /** The commit that the tasks of the round begin at. */
  base: string
  /** Every task of the collaboration, by the name that it has in its plan. */
  order: readonly string[]
  /** Reviews that did not approve, and how many of them there may be. */
  iterations: number
  maxIterations: number
}

/** Plan, delegate, collect, integrate, review, and again until it is good, or there may be no more. */
export async function plannedFlow(crew: CrewRun): Promise<Ending> {
  const { input, state } = crew
  const now: Standing = {
    number: 1,
    plans: 1,
    ...whole(await makePlan(crew, 1)),
    base: input.repo.base,
    order: [],
    iterations: 0,
    maxIterations: input.crew.limits.maxIterations,
  }
  for (; ; now.number++) {
    now.order = [...new Set([...now.order, ...now.work.map(({ task }) => rootTask(task.task_id))])]
    const checks = requiredChecks(input.crew.checks, now.plan.checks)
    const delegated = await delegate(crew, now, checks)
    const why = await collect(crew, now, delegated)
    if (why !== undefined) return { outcome: 'aborted', summary: why }
    const { splits, order } = delegated
    now.order = order
    now.plan = { ...now.plan, tasks: tasksAfterSplits(now.plan.tasks, splits) }
    now.newest = newestAfterSplits(now.newest, splits)
    now.base = await putTogether(crew, now, delegated)
    const round = await review(crew, now, { delegated, checks })
    if (round.verdict === 'approved') return { outcome: 'approved', summary: round.summary }
    const findings = state.toFix
    const next = await iterate(crew, now, { ...round, verdict: round.verdict })
    if ('outcome' in next) return next
    if ('revisions' in next) {
      now.work = next.revisions
      now.newest = newestWork(now.newest, next.revisions)
    } else {
      now.plans += 1
      const rejected = { round, findings, taken: [...state.tasks.keys()] }
      Object.assign(now, whole(await makePlan(crew, now.plans, rejected)))
    }
  }
}

/** A plan with all of its tasks to be done. */
function whole(plan: Plan): Pick<Standing, 'plan' | 'work' | 'newest'> {
  const work = plan.tasks.map((task): Work => ({ task, attempts: [] }))
  return { plan, work, newest: work }
}

function delegate(crew: CrewRun, now: Standing, checks: readonly RequiredCheck[]): Promise<Delegated> {
  const { number: round, work } = now
  const given = { key: `delegate-${round}`, inputCount: work.length }
  return crew.phases.run('delegate', given, async ({ spanId: nodeId }) => {
    const value = await delegateTasks(crew, { ...now, round, checks, nodeId })
    return { value, count: value.results.size }
  })
}

/** Takes note of what came of each task; answers why there is nothing to go on with. */
async function collect(
  { phases, state, talk, flow }: CrewRun,
  { number, work }: Standing,
  delegated: Delegated,
): Promise<string | undefined> {
  const given = { key: `collect-${number}`, inputCount: work.length }
  const reason = await phases.run('collect', given, async () => {
    for (const one of doneTasks(work, delegated)) state.tasks.set(one.task_id, one)
    const undone = delegated.work.filter(
      ({ task }) => !['completed', 'partial'].includes(delegated.states[task.task_id] ?? ''),
    )
    const first = undone[0]?.task.task_id
    const value =
      first === undefined
        ? undefined
        : `${undone.map(({ task }) => task.task_id).join(', ')} could not be done: ${state.tasks.get(first)?.because ?? 'it never began'}`
    return { value, count: delegated.results.size }
  })
  if (reason !== undefined)
    await closeRound(talk, flow, { name: `round-${number}-over`, root: flow.root(), reason })
  return reason
}

/** Puts the work of a round together; answers the commit that has all of it. */
function putTogether(crew: CrewRun, { number: round }: Standing, { work }: Delegated): Promise<string> {
  const tasks = work.map(({ task }) => task)
  const given = { key: `integrate-${round}`, inputCount: tasks.length }
  return crew.phases.run('integrate', given, async ({ spanId: nodeId }) => ({
    value: await integrate(crew, { round, tasks, nodeId }),
    count: tasks.length,
  }))
}

type Reviewing = { readonly delegated: Delegated; readonly checks: readonly RequiredCheck[] }

const review = (
  crew: CrewRun,
  { number, plan, base: commit }: Standing,
  { delegated, checks }: Reviewing,
): Promise<CrewRound> =>
  reviewWork(crew, {
    number,
    commit,
    tasks: plan.tasks,
    checks,
    base: crew.input.repo.base,
    unfinished: unfinishedOf(delegated),
  })

const unfinishedOf = ({ work, states, results }: Delegated): UnfinishedTask[] =>
  work
    .map(({ task }) => task.task_id)
    .filter((id) => states[id] === 'partial')
    .flatMap((task_id) => {
      const result = results.get(task_id)
      return result ? [{ task_id, why: whatIsMissing({ ...result.output, failure: result.failure }) }] : []
    })
