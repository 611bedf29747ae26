import type { TaskState } from '../../contract/collaboration/crew-report.ts'
import type { PlanTask, TaskDependency } from '../../contract/collaboration/replies.ts'

export type TaskStates = Readonly<Record<string, TaskState>>

/** A task that can never start, and why. */
type BlockedTask = { readonly task_id: string; readonly because: string }

type NextTasks = {
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
  const known = tasksById(tasks)
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
    return ![...finishedBefore(tasks, task_id)].some(mayRun)
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
  cancelled: 'was cancelled',
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
    if (state === undefined) return `it needs ${task_id}, which is not a task`
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

/** What of a task decides when it may run. */
type Ordered = Pick<PlanTask, 'task_id' | 'depends_on'>

/** The tasks in the order in which their work is put together: what a task depends on first, else as planned. */
export function integrationOrder<T extends Ordered>(tasks: readonly T[]): T[] {
  const known = tasksById(tasks)
  const done = new Set<string>()
  const order: T[] = []
  const place = (task: T): void => {
    // Marked before its dependencies are placed, so that a circle ends.
    if (done.has(task.task_id)) return
    done.add(task.task_id)
    for (const { task_id } of task.depends_on) {
      const needed = known.get(task_id)
      if (needed) place(needed)
    }
    order.push(task)
  }
  for (const task of tasks) place(task)
  return order
}

/** The names along a circle of dependencies, the first one again at its end; undefined when there is none. */
export function dependencyCircle(tasks: readonly Ordered[]): string[] | undefined {
  const known = tasksById(tasks)
  const settled = new Set<string>()
  const trail: string[] = []
  const visit = (id: string): string[] | undefined => {
    const start = trail.indexOf(id)
    if (start >= 0) return [...trail.slice(start), id]
    if (settled.has(id)) return undefined
    trail.push(id)
    for (const { task_id } of known.get(id)?.depends_on ?? []) {
      const circle = known.has(task_id) ? visit(task_id) : undefined
      if (circle) return circle
    }
    trail.pop()
    settled.add(id)
    return undefined
  }
  for (const { task_id } of tasks) {
    const circle = visit(task_id)
    if (circle) return circle
  }
  return undefined
}

/**
 * The tasks that are surely over before this one starts. A soft dependency has begun by then, so all that it
 * had to wait for is over, but it may still run itself.
 */
export function finishedBefore(tasks: readonly Ordered[], id: string): Set<string> {
  const known = tasksById(tasks)
  const over = new Set<string>()
  const seen = new Set([id])
  const open = [id]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const { task_id, type } of known.get(next)?.depends_on ?? []) {
      if (type === 'hard') over.add(task_id)
      if (!seen.has(task_id)) {
        seen.add(task_id)
        open.push(task_id)
      }
    }
  }
  return over
}

/** Tasks by name; of two with one name the first counts. */
export function tasksById<T extends Ordered>(tasks: readonly T[]): Map<string, T> {
  const known = new Map<string, T>()
  for (const task of tasks) if (!known.has(task.task_id)) known.set(task.task_id, task)
  return known
}

/**
 * The tasks with smaller ones in the place of one. What it waited for its parts wait for too, and what waited for it
 * waits for all of them.
 */
export function splitTask(
  tasks: readonly PlanTask[],
  taskId: string,
  parts: readonly PlanTask[],
): PlanTask[] {
  return tasks.flatMap((task) => {
    if (task.task_id === taskId)
      return parts.map((part) => ({ ...part, depends_on: merged([...part.depends_on, ...task.depends_on]) }))
    const depends_on = task.depends_on.flatMap((dependency) =>
      dependency.task_id === taskId
        ? parts.map((part) => ({ task_id: part.task_id, type: dependency.type }))
        : [dependency],
    )
    return [{ ...task, depends_on: merged(depends_on) }]
  })
}

/** Each task once; a hard dependency wins over a soft one. */
function merged(dependencies: PlanTask['depends_on']): PlanTask['depends_on'] {
  const types = new Map<string, 'hard' | 'soft'>()
  for (const { task_id, type } of dependencies) if (types.get(task_id) !== 'hard') types.set(task_id, type)
  return [...types].map(([task_id, type]) => ({ task_id, type }))
}
