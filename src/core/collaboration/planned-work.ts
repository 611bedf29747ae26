import type { PlanTask } from '../../contract/collaboration/replies.ts'
import { type Work, withAttempt } from '../delegation/developer-work.ts'
import { splitTask } from './task-graph.ts'

/** The task of the plan that a task revises, or the task itself. */
export const rootTask = (taskId: string): string => taskId.replace(/-rev\d+$/, '')

type Conflict = {
  /** The task whose work does not fit to what was put together before. */
  readonly task: PlanTask
  readonly files: readonly string[]
  /** Which conflict of this task it is, from 1. */
  readonly number: number
}

/** The work of bringing a task together with the others: the files that conflict, and nothing else. */
export function conflictWork({ task, files, number }: Conflict): Work {
  return {
    attempts: [],
    task: {
      task_id: `${task.task_id}-merge${number}`,
      title: `Resolve the conflicts of ${task.task_id}`,
      description: `The work on "${task.title}" is being merged, and both sides changed the same lines. The merge is under way in this work tree. In each of these files, keep what both sides meant and remove every conflict marker:\n${files.map((file) => `- ${file}`).join('\n')}\n\nWhat the task was:\n${task.description}`,
      scope: files.map(asGlob),
      depends_on: [],
      acceptance_criteria: ['no conflict marker is left', ...task.acceptance_criteria],
      priority: 'high',
      testing_required: false,
      ...(task.reference_files === undefined ? {} : { reference_files: task.reference_files }),
      ...(task.specs === undefined ? {} : { specs: task.specs }),
    },
  }
}

/** A path as a glob that names it: signs of globs stand for themselves in a class. */
const asGlob = (path: string): string => path.replaceAll(/[*?{[]/g, '[$&]')

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
    return withAttempt(
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

/** Who tries next what others could not do: in turn after the last, who has not tried it yet; when all have, the next. */
export function nextDeveloper<T extends { readonly id: string }>(
  all: readonly T[],
  tried: readonly string[],
): T | undefined {
  const after = all.findIndex(({ id }) => id === tried.at(-1)) + 1
  const inTurn = [...all.slice(after), ...all.slice(0, after)]
  return inTurn.find(({ id }) => !tried.includes(id)) ?? inTurn[0]
}
