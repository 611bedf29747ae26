import type { PlanTask } from '../../contract/collaboration/plan.ts'
import { rootTask } from './revise.ts'
import { splitTask } from './split-task.ts'
import { tried, type Work } from './work.ts'

/** A task that was too large, and the smaller ones that take its place. */
export type TaskSplit = { readonly task_id: string; readonly parts: readonly PlanTask[] }

/** Work with the parts of a task in its place; they are told that it was begun as one. */
export function workAfterSplit(work: readonly Work[], { task_id, parts }: TaskSplit): Work[] {
  const tasks = splitTask(
    work.map(({ task }) => task),
    task_id,
    parts,
  )
  return tasks.map((task): Work => {
    const known = work.find((each) => each.task.task_id === task.task_id)
    if (known) return { ...known, task }
    return tried(
      { task, attempts: [] },
      'split',
      `this is a part of ${task_id}, which was too large for one developer; what was done of it is in the work tree`,
    )
  })
}

/** A plan whose tasks were split while they, or revisions of them, were under way. */
export const tasksAfterSplits = (tasks: readonly PlanTask[], splits: readonly TaskSplit[]): PlanTask[] =>
  splits.reduce<PlanTask[]>((all, { task_id, parts }) => splitTask(all, rootTask(task_id), parts), [...tasks])

/** The newest work of each task of a plan, with what was split in its parts. */
export const newestAfterSplits = (work: readonly Work[], splits: readonly TaskSplit[]): Work[] =>
  splits.reduce<Work[]>(
    (all, split) =>
      all.flatMap((each) =>
        rootTask(each.task.task_id) === rootTask(split.task_id)
          ? split.parts.map((task): Work => ({ task, attempts: [] }))
          : [each],
      ),
    [...work],
  )
