import type * as z from 'zod'
import type { DeveloperReply, PlanTask } from '../../contract/collaboration/replies.ts'
import { told } from '../../contract/formats/foreign-json.ts'
import type { DeveloperInput, DeveloperOutput, FileChange } from '../../contract/session-file/outputs.ts'

/** An attempt at a task, as the next developer is told of it. */
type PreviousAttempt = {
  readonly attempt_number: number
  readonly outcome: string
  readonly feedback: string
}

/** A task with what was tried before. */
export type Work = { readonly task: PlanTask; readonly attempts: readonly PreviousAttempt[] }

/** The same work after one more attempt. */
export const withAttempt = (work: Work, outcome: string, feedback: string): Work => ({
  ...work,
  attempts: [...work.attempts, { attempt_number: work.attempts.length + 1, outcome, feedback }],
})

/** What a developer is given. */
export function developerInput(
  { task, attempts }: Work,
  project: { readonly styleGuide?: string; readonly mustNotBreak?: readonly string[] } = {},
): z.infer<typeof DeveloperInput> {
  return {
    task_id: task.task_id,
    task_description: `${task.title}\n\n${task.description}`,
    context: told({
      specs: task.specs ?? [],
      reference_files: task.reference_files ?? [],
      previous_attempts: attempts.length === 0 ? undefined : [...attempts],
    }),
    constraints: told({
      scope: [...task.scope],
      testing_required: task.testing_required,
      must_not_break: project.mustNotBreak === undefined ? undefined : [...project.mustNotBreak],
      style_guide: project.styleGuide,
    }),
    acceptance_criteria: [...task.acceptance_criteria],
  }
}

/** What a developer gave back: its own words, and the changes that git shows. */
export function developerOutput(
  taskId: string,
  reply: DeveloperReply,
  files: readonly FileChange[],
): DeveloperOutput {
  const of = (kind: FileChange['change_type']) => files.filter((file) => file.change_type === kind)
  return {
    task_id: taskId,
    ...reply,
    changes: {
      files_created: of('created'),
      files_modified: files.filter(({ change_type: kind }) => kind !== 'created' && kind !== 'deleted'),
      files_deleted: of('deleted').map((file) => file.path),
    },
  }
}
