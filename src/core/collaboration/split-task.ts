import type { PlanTask } from '../../contract/collaboration/plan.ts'

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
