import type { PlanTask } from '../../../contract/collaboration/plan.ts'
import type { FailureKind } from '../after-failure.ts'
import { endOf, fenced, fencedJson, howToAnswer } from './quoted.ts'

type Failed = {
  readonly task: PlanTask
  readonly kind: FailureKind
  readonly attempt: number
  readonly error: string
}

const mostError = 3000

/** Asks an architect what to do about a task that failed. */
export const failurePrompt = ({ task, kind, attempt, error }: Failed): string =>
  [
    `You are the architect of a crew. Attempt ${attempt} at the task ${task.task_id} failed (${kind}). Decide what to do; do not change any file.`,
    fencedJson(task),
    `What was reported:\n\n${fenced(endOf(error, mostError))}`,
    howToAnswer(failureExample),
    '`action` is retry (the same task again), reassign (the same task to another developer), split (it is too large; you will be asked for smaller tasks) or abort (the collaboration ends without it).',
  ].join('\n\n')

/** The shape of a decision as an architect is shown it. */
export const failureExample = { action: 'retry', reason: '<why>' }
