import type { TaskState } from '../../contract/collaboration/crew-report.ts'
import type { PlanTask } from '../../contract/collaboration/replies.ts'
import type { SpanId } from '../../contract/ids.ts'
import type { DoneTask } from '../../core/collaboration/crew-report.ts'
import {
  nextDeveloper,
  rootTask,
  type TaskSplit,
  workAfterSplit,
} from '../../core/collaboration/planned-work.ts'
import { nextTasks } from '../../core/collaboration/task-graph.ts'
import { developerOutput, type Work } from '../../core/delegation/developer-work.ts'
import type { RequiredCheck } from '../../core/delegation/required-checks.ts'
import { type Child, LimitReached } from '../../ports/durable.ts'
import { afterFailedTask } from './after-failed-task.ts'
import { branchOf, type Someone, treeOf } from './crew-parts.ts'
import type { CrewRun } from './crew-run.ts'
import type { Attempt, Attempted } from './crew-task.ts'

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

/** The tasks of one round, to be handed out. */
export type RoundWork = {
  readonly round: number
  readonly work: readonly Work[]
  /** The commit that the tasks of this round begin at. */
  readonly base: string
  /** Every task of the collaboration, by the name that it has in its plan. */
  readonly order: readonly string[]
  readonly checks: readonly RequiredCheck[]
  /** The node that they hang under. */
  readonly nodeId: SpanId
}

type Underway = { readonly child: Child<Attempted>; readonly attempt: Attempt }

/** Hands out the tasks of a round: side by side where nothing forbids it, each tried again as the rules allow. */
export async function delegateTasks(crew: CrewRun, given: RoundWork): Promise<Delegated> {
  const { flow, opened } = crew
  let { work, order } = given
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
    const name = `r${given.round}/${task_id}#${attempt.number}`
    const child = flow.child(name, crew.task, attempt)
    running.set(child.id, { child, attempt })
    if (!opened.has(task_id)) opened.set(task_id, { branch: attempt.worktree.branch })
    states[task_id] = 'running'
  }
  for (;;) {
    const tasks = work.map(({ task }) => task)
    const { start, blocked } = nextTasks({ tasks, states, atOnce: crew.atOnce })
    for (const id of start) {
      const own = work.find(({ task }) => task.task_id === id)
      if (own) begin(firstAttempt(crew, { ...given, work, order }, { own, from: begun.get(id) }))
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
      return unopened(attempt, error)
    })
    const another = anotherFor(crew, order, { attempt, tried: triedBy.get(task_id) ?? [] })
    const failed = { round: given.round, nodeId: given.nodeId, attempt, result, tasks, taken: order, another }
    const next = await afterFailedTask(crew, failed)
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

/** An attempt whose place could not be made ready; nobody was given it. */
function unopened({ work, start }: Attempt, error: unknown): Attempted {
  const text = error instanceof Error ? error.message : String(error)
  return {
    state: 'failed',
    output: developerOutput(work.task.task_id, { status: 'failed', summary: text }, []),
    files: [],
    durationMs: 0,
    failure: { kind: 'exception', error: text },
    ...(start !== undefined && { start }),
  }
}

type First = { readonly own: Work; readonly from: string | undefined }

function firstAttempt(crew: CrewRun, given: RoundWork, { own, from }: First): Attempt {
  const { flow, parts } = crew
  const { task } = own
  const path = treeOf(parts.worktrees, flow.id, task.task_id)
  const isInRound = (id: string) => given.work.some((one) => one.task.task_id === id)
  return {
    work: own,
    number: 1,
    who: developerFor(crew, given.order, task),
    timeoutMs: crew.developerMs,
    worktree: { path, branch: branchOf(flow.id, task), base: given.base },
    needs: [
      ...(from === undefined ? [] : [from]),
      ...task.depends_on
        .filter(({ type, task_id }) => type === 'hard' && isInRound(task_id))
        .map(({ task_id }) => branchOf(flow.id, { task_id })),
    ],
    checks: given.checks,
    nodeId: given.nodeId,
  }
}

/** Each task has its developer, and a revision goes to whoever has that task. */
function developerFor({ developers }: CrewRun, order: readonly string[], task: PlanTask): Someone {
  const n = placeOf(order, task)
  return numbered(developers[n % developers.length], `${n + 1}`)
}

type Tried = { readonly attempt: Attempt; readonly tried: readonly string[] }

/** Whoever is to try a task that others could not do. */
function anotherFor(
  { developers }: CrewRun,
  order: readonly string[],
  { attempt: { work, number }, tried }: Tried,
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

/** What came of each task of a round, for the report; a task that was split is there beside its parts. */
export const doneTasks = (
  given: readonly Work[],
  { results, states, blocked, work, splits }: Delegated,
): DoneTask[] =>
  [...given, ...work.filter(({ task }) => !given.some((one) => one.task.task_id === task.task_id))].map(
    ({ task }) => {
      const result = results.get(task.task_id)
      const split = splits.find((one) => one.task_id === task.task_id)
      const why = split
        ? `it was split into ${split.parts.map((part) => part.task_id).join(', ')}`
        : (result?.failure?.error ?? blocked.find((one) => one.task_id === task.task_id)?.because)
      return {
        task_id: task.task_id,
        title: task.title,
        state: states[task.task_id] ?? 'cancelled',
        files: [...(result?.files ?? [])],
        ...(result && {
          summary: result.output.summary,
          attempts: result.attempts,
          duration_ms: result.durationMs,
        }),
        ...(result?.output.blockers && { blockers: result.output.blockers }),
        ...(why !== undefined && { because: why }),
      }
    },
  )
