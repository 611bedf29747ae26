import type { PlanTask } from '../../../contract/collaboration/plan.ts'
import { planExample } from './plan-prompt.ts'
import { fencedJson, howToAnswer } from './quoted.ts'

type Split = {
  readonly task: PlanTask
  readonly why: string
  /** Names that the parts cannot have. */
  readonly taken: readonly string[]
}

/** Asks an architect to cut a task that is too large into smaller ones. */
export const splitPrompt = ({ task, why, taken }: Split): string =>
  [
    `You are the architect of a crew. The task ${task.task_id} is too large for one developer: ${why}. Cut it into smaller tasks that together do all of it; do not change any file.`,
    fencedJson(task),
    [
      'Rules that are enforced:',
      '- The scopes of the new tasks lie within the scope of this one.',
      '- Two tasks that may run at the same time must not be able to change the same file. Where they must, make one a hard dependency of the other.',
      '- What this task waited for the new ones wait for too; name only dependencies between the new ones.',
      `- These names are taken: ${taken.join(', ')}.`,
    ].join('\n'),
    howToAnswer({ summary: planExample.summary, tasks: planExample.tasks }),
  ].join('\n\n')
