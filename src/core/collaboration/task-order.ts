import type { PlanTask } from '../../contract/collaboration/plan.ts'

/** What of a task decides when it may run. */
export type Ordered = Pick<PlanTask, 'task_id' | 'depends_on'>

/** The tasks in the order in which their work is put together: what a task depends on first, else as planned. */
export function integrationOrder<T extends Ordered>(tasks: readonly T[]): T[] {
  const known = byId(tasks)
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
  const known = byId(tasks)
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
export function overBefore(tasks: readonly Ordered[], id: string): Set<string> {
  const known = byId(tasks)
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
export function byId<T extends Ordered>(tasks: readonly T[]): Map<string, T> {
  const known = new Map<string, T>()
  for (const task of tasks) if (!known.has(task.task_id)) known.set(task.task_id, task)
  return known
}
