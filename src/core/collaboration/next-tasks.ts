import type { TaskState } from '../../contract/collaboration/crew-report.ts'
import type { PlanTask, TaskDependency } from '../../contract/collaboration/plan.ts'
import { byId, type Ordered, overBefore } from './task-order.ts'

export type TaskStates = Readonly<Record<string, TaskState>>
/** A task that can never start, and why. */
export type BlockedTask = { readonly task_id: string; readonly because: string }

export type NextTasks = {
  /** What may start now, the most urgent first. */
  readonly start: readonly string[]
  readonly blocked: readonly BlockedTask[]
}

type Graph = {
  readonly tasks: readonly (Ordered & Pick<PlanTask, 'priority'>)[]
  readonly states: TaskStates
  /** How many developers may work at the same time. */
  readonly atOnce: number
}

const urgency = { high: 0, medium: 1, low: 2 } as const

/** Which tasks may start, and which can never start; the others wait. */
export function nextTasks({ tasks, states, atOnce }: Graph): NextTasks {
  const known = byId(tasks)
  const stateOf = (id: string): TaskState => (Object.hasOwn(states, id) ? states[id] : undefined) ?? 'pending'
  const pending = tasks.filter((task) => stateOf(task.task_id) === 'pending')
  const blocked = blockedAmong(pending, (id) => (known.has(id) ? stateOf(id) : undefined))
  const mayRun = (id: string) =>
    stateOf(id) === 'running' || (known.has(id) && stateOf(id) === 'pending' && !blocked.has(id))
  const isFree = ({ task_id, type }: TaskDependency): boolean => {
    if (type === 'hard') return stateOf(task_id) === 'completed'
    const neverBegins = blocked.has(task_id) || stateOf(task_id) === 'cancelled'
    if (!neverBegins) return !known.has(task_id) || stateOf(task_id) !== 'pending'
    // What it would have waited for must be over all the same.
    return ![...overBefore(tasks, task_id)].some(mayRun)
  }
  const open = pending.filter((task) => !blocked.has(task.task_id))
  const ready = open.filter((task) => task.depends_on.every(isFree))
  const running = tasks.filter((task) => stateOf(task.task_id) === 'running').length
  // Tasks that wait for each other would wait for ever; a plan with a circle is refused, this is the second lock.
  if (running === 0 && ready.length === 0)
    for (const { task_id } of open) blocked.set(task_id, 'it waits in a circle of dependencies')

  const room = Math.max(0, Math.max(1, atOnce) - running)
  const start = ready
    .toSorted((a, b) => urgency[a.priority] - urgency[b.priority])
    .slice(0, room)
    .map((task) => task.task_id)
  return {
    start,
    blocked: tasks.flatMap(({ task_id }) => {
      const because = blocked.get(task_id)
      return because === undefined ? [] : [{ task_id, because }]
    }),
  }
}

const endings = {
  failed: 'failed',
  partial: 'is only partly done',
  cancelled: 'was called off',
} as const

/** Tasks whose hard dependency ended without being complete, and in turn those that need them. */
function blockedAmong(
  pending: readonly Ordered[],
  stateOf: (id: string) => TaskState | undefined,
): Map<string, string> {
  const blocked = new Map<string, string>()
  const reason = ({ task_id, type }: TaskDependency): string | undefined => {
    if (type === 'soft') return undefined
    const state = stateOf(task_id)
    if (state === undefined) return `it needs ${task_id}, which is no task`
    if (state === 'failed' || state === 'partial' || state === 'cancelled')
      return `it needs ${task_id}, which ${endings[state]}`
    return blocked.has(task_id) ? `it needs ${task_id}, which cannot start` : undefined
  }
  for (let before = -1; before < blocked.size; ) {
    before = blocked.size
    for (const { task_id, depends_on } of pending) {
      const because = depends_on.map(reason).find((each) => each !== undefined)
      if (because !== undefined && !blocked.has(task_id)) blocked.set(task_id, because)
    }
  }
  return blocked
}
