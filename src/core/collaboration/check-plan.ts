import type { Plan, PlanChecks, PlanTask } from '../../contract/collaboration/replies.ts'
import type { EventOf } from '../../contract/event.ts'
import { globsOverlap, scopeProblem } from '../delegation/globs.ts'
import { plannedChecks } from '../delegation/required-checks.ts'
import { verifies } from '../delegation/verification-command.ts'
import { dependencyCircle, finishedBefore, tasksById } from './task-graph.ts'

/** What a plan has to keep to. */
export type PlanLimits = {
  readonly maxTasks: number
  /** Names that earlier tasks of the collaboration have. */
  readonly taken?: readonly string[]
}

/** What is wrong with a plan, in sentences that its architect can act on; nothing when it can be carried out. */
export function checkPlan(plan: Pick<Plan, 'tasks' | 'checks'>, limits: PlanLimits): string[] {
  const wrongCount = counted(plan.tasks, limits)
  if (wrongCount !== undefined) return [wrongCount]
  const problems = [...named(plan.tasks, limits), ...scoped(plan.tasks), ...unsafeChecks(plan.checks)]
  const broken = dependencyProblems(plan.tasks)
  // Which tasks may meet is only known of an order that holds.
  return broken.length > 0 ? [...problems, ...broken] : [...problems, ...meetings(plan.tasks)]
}

function counted(tasks: readonly PlanTask[], { maxTasks }: PlanLimits): string | undefined {
  if (tasks.length === 0) return 'tasks: there is none; give at least one'
  if (tasks.length <= maxTasks) return undefined
  return `tasks: there are ${tasks.length}, and at most ${maxTasks} are allowed; combine some`
}

const kept = /-(rev|merge)\d+$/

function named(tasks: readonly PlanTask[], { taken = [] }: PlanLimits): string[] {
  const ids = tasks.map((task) => task.task_id)
  const twice = [...new Set(ids.filter((id, i) => ids.indexOf(id) !== i))]
  return [
    ...twice.map((id) => `task ${id}: the name is used twice; give each task its own`),
    ...[...new Set(ids)].flatMap((id) => {
      if (taken.includes(id)) return [`task ${id}: an earlier task has this name; choose another`]
      return kept.test(id) ? [`task ${id}: names that end like -rev1 or -merge1 are kept for later work`] : []
    }),
  ]
}

function scoped(tasks: readonly PlanTask[]): string[] {
  return tasks.flatMap(({ task_id, scope }) =>
    scope.flatMap((glob) => {
      const problem = scopeProblem(glob)
      return problem === undefined ? [] : [`task ${task_id}: ${problem}`]
    }),
  )
}

// Muster runs the checks itself, so the words of a model must not become any command it likes.
function unsafeChecks(checks: PlanChecks | undefined): string[] {
  return plannedChecks(checks).flatMap(({ name, command }) => {
    const verified = verifies(command)
    return verified.ok ? [] : [`the check ${name} (${shown(command)}): ${verified.reason}`]
  })
}

function dependencyProblems(tasks: readonly PlanTask[]): string[] {
  const known = tasksById(tasks)
  const unknown = tasks.flatMap(({ task_id, depends_on }) =>
    depends_on
      .filter((dependency) => !known.has(dependency.task_id))
      .map(
        (dependency) => `task ${task_id}: it depends on ${shown(dependency.task_id)}, which is not a task`,
      ),
  )
  const circle = dependencyCircle(tasks)
  if (!circle) return unknown
  return [
    ...unknown,
    `the tasks wait for each other in a circle: ${circle.join(' → ')}; remove one dependency`,
  ]
}

/** Two tasks that may run at the same time must not be able to change the same file. */
function meetings(tasks: readonly PlanTask[]): string[] {
  const before = new Map(tasks.map(({ task_id }) => [task_id, finishedBefore(tasks, task_id)]))
  return tasks.flatMap((task, i) =>
    tasks.slice(i + 1).flatMap((other) => {
      if (task.task_id === other.task_id) return []
      const isOrdered =
        before.get(task.task_id)?.has(other.task_id) || before.get(other.task_id)?.has(task.task_id)
      const globs = isOrdered ? undefined : sharedGlobs(task, other)
      return globs ? [meeting(task, other, globs)] : []
    }),
  )
}

function sharedGlobs(task: PlanTask, other: PlanTask): readonly [string, string] | undefined {
  for (const glob of task.scope)
    for (const second of other.scope) if (globsOverlap(glob, second)) return [glob, second]
  return undefined
}

const meeting = (task: PlanTask, other: PlanTask, [glob, second]: readonly [string, string]): string =>
  `tasks ${task.task_id} and ${other.task_id} may run at the same time, and ${shown(glob)} and ${shown(second)} can name the same file; make one a hard dependency of the other, or part their scopes`

const shown = (text: string): string => JSON.stringify(text.slice(0, 100))

/** A plan as `plan.created` records it: whole, and as tasks with what they wait for. */
export const planRecord = (planId: string, plan: Plan): EventOf<'plan.created'>['payload'] => ({
  planId,
  plan,
  tasks: plan.tasks.map(({ task_id, title, description, priority, depends_on }) => ({
    taskId: task_id,
    description: `${title}\n\n${description}`,
    priority,
    dependencies: depends_on.map((dependency) => dependency.task_id),
  })),
})
