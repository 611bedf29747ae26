import type { PlanTask } from '../../contract/collaboration/plan.ts'
import type { Work } from './work.ts'

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
      description: `The work on "${task.title}" is being merged, and both sides changed the same lines. The merge is under way in this work tree. In each of these files, keep what both sides meant and take every conflict marker out:\n${files.map((file) => `- ${file}`).join('\n')}\n\nWhat the task was:\n${task.description}`,
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
