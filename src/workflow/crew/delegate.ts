import type { TaskState } from '../../contract/collaboration/crew-report.ts'
import type { PlanTask } from '../../contract/collaboration/replies.ts'
import {
  nextDeveloper,
  rootTask,
  type TaskSplit,
  workAfterSplit,
} from '../../core/collaboration/planned-work.ts'
import { nextTasks } from '../../core/collaboration/task-graph.ts'
import { type Work } from '../../core/delegation/developer-work.ts'
import type { RequiredCheck } from '../../core/delegation/required-checks.ts'
import { type Child, type Flow, LimitReached } from '../../ports/durable.ts'
import { brokenAttempt } from './broken-attempt.ts'
import type { Around, Attempt, Attempted } from './carry-out.ts'
import { developerMs, type Someone } from './crew-parts.ts'
import { develop } from './develop.ts'
import { afterAttempt } from './failed-attempt.ts'
import { branchOf, treeOf } from './places.ts'

/** What a task came to in the end. */
export type TaskResult = Attempted & { readonly attempts: number; readonly branch: string }

/** All tasks of a round. */
export type Delegated = {
  readonly results: ReadonlyMap<string, TaskResult>
  readonly states: Readonly<Record<string, TaskState>>
  /** Tasks that never began, and why. */
  readonly blocked: readonly { readonly task_id: string; readonly because: string }[]
  /** The work of the round as it is in the end, tasks that were split in their parts. */
  readonly work: readonly Work[]
  /** Tasks that were split, oldest first. */
  readonly splits: readonly TaskSplit[]
  /** Every task of the collaboration, with those that came of a split. */
  readonly order: readonly string[]
}

type Delegating = Around & {
  readonly flow: Flow
  readonly round: number
  readonly work: readonly Work[]
  /** The commit that the tasks of this round begin at. */
  readonly base: string
  readonly developers: readonly Someone[]
  /** Every task of the collaboration, by the name that it has in its plan. */
  readonly order: readonly string[]
  readonly planner: Someone | undefined
  readonly atOnce: number
  readonly checks: readonly RequiredCheck[]
}

type Underway = { readonly child: Child<Attempted>; readonly attempt: Attempt }

/** Hands out the tasks of a round: side by side where nothing forbids it, each tried again as the rules allow. */
export async function delegate(delegating: Delegating): Promise<Delegated> {
  const { flow } = delegating
  let { work, order } = delegating
  const splits: TaskSplit[] = []
  /** The branch of a task that was split, for its parts to go on from. */
  const begun = new Map<string, string>()
  const states: Record<string, TaskState> = {}
  const results = new Map<string, TaskResult>()
  const running = new Map<string, Underway>()
  /** The members that tried a task, the last one last. */
  const triedBy = new Map<string, readonly string[]>()
  const begin = (attempt: Attempt) => {
    const { task_id } = attempt.work.task
    triedBy.set(task_id, [...(triedBy.get(task_id) ?? []), attempt.who.member.id])
    const name = `r${delegating.round}/${task_id}#${attempt.number}`
    const child = flow.child(name, develop(delegating), attempt)
    running.set(child.id, { child, attempt })
    if (!delegating.opened.has(task_id)) delegating.opened.set(task_id, { branch: attempt.worktree.branch })
    states[task_id] = 'running'
  }
  for (;;) {
    const tasks = work.map(({ task }) => task)
    const { start, blocked } = nextTasks({ tasks, states, atOnce: delegating.atOnce })
    for (const id of start) {
      const own = work.find(({ task }) => task.task_id === id)
      if (own) begin(firstAttempt({ ...delegating, work, order }, own, begun.get(id)))
    }
    if (running.size === 0) return { results, states, blocked, work, splits, order }
    const first = await flow.waitFirst([...running.values()].map(({ child }) => child))
    const done = running.get(first.id)
    if (!done) continue
    running.delete(first.id)
    const { attempt } = done
    const { task_id } = attempt.work.task
    const result = await first.result().catch((error: unknown) => {
      if (error instanceof LimitReached) throw error
      return brokenAttempt(attempt, error)
    })
    const another = anotherFor({ ...delegating, order }, attempt, triedBy.get(task_id) ?? [])
    const next = await afterAttempt(delegating, { attempt, result, tasks, taken: order, another })
    if (next && 'again' in next) {
      begin(next.again)
      continue
    }
    states[task_id] = next ? 'cancelled' : result.state
    results.set(task_id, { ...result, attempts: attempt.number, branch: attempt.worktree.branch })
    if (!next) continue
    const { parts } = next.split
    splits.push(next.split)
    work = workAfterSplit(work, next.split)
    order = [...order, ...parts.map((part) => part.task_id)]
    if (result.files.length > 0) for (const part of parts) begun.set(part.task_id, attempt.worktree.branch)
  }
}

function firstAttempt(delegating: Delegating, work: Work, begun: string | undefined): Attempt {
  const { flow, parts, base, input } = delegating
  const { task } = work
  const path = treeOf(parts.worktrees, flow.id, task.task_id)
  return {
    work,
    number: 1,
    who: developerFor(delegating, task),
    timeoutMs: developerMs(input),
    worktree: { path, branch: branchOf(flow.id, task), base },
    needs: [
      ...(begun === undefined ? [] : [begun]),
      ...task.depends_on
        .filter(
          ({ type, task_id }) =>
            type === 'hard' && delegating.work.some((one) => one.task.task_id === task_id),
        )
        .map(({ task_id }) => branchOf(flow.id, { task_id })),
    ],
    checks: delegating.checks,
  }
}

/** Each task has its developer, and a revision goes to whoever has that task. */
function developerFor({ developers, order }: Delegating, task: PlanTask): Someone {
  const n = placeOf(order, task)
  return numbered(developers[n % developers.length], `${n + 1}`)
}

/** Whoever is to try a task that others could not do. */
function anotherFor(
  { developers, order }: Delegating,
  { work, number }: Attempt,
  tried: readonly string[],
): Someone {
  const chosen = nextDeveloper(developers, tried)
  return numbered(chosen, `${placeOf(order, work.task) + 1}-try${number + 1}`)
}

const placeOf = (order: readonly string[], { task_id }: PlanTask): number =>
  Math.max(0, order.indexOf(rootTask(task_id)))

function numbered(chosen: Someone | undefined, number: string): Someone {
  if (!chosen) throw new Error('a crew without developers has no tasks to hand out')
  return { ...chosen, id: `${chosen.id}-${number}` }
}
