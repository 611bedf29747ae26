import type { DoneTask } from '../../core/collaboration/crew-report.ts'
import type { Work } from '../../core/delegation/developer-work.ts'
import type { Delegated } from './delegate.ts'

/** What came of each task of a round, for the report; a task that was split is there beside its parts. */
export const doneTasks = (
  given: readonly Work[],
  { results, states, blocked, work, splits }: Delegated,
): DoneTask[] =>
  [...given, ...work.filter(({ task }) => !given.some((one) => one.task.task_id === task.task_id))].map(
    ({ task }) => {
      const result = results.get(task.task_id)
      const split = splits.find((one) => one.task_id === task.task_id)
      const why = split
        ? `it was split into ${split.parts.map((part) => part.task_id).join(', ')}`
        : (result?.failure?.error ?? blocked.find((one) => one.task_id === task.task_id)?.because)
      return {
        task_id: task.task_id,
        title: task.title,
        state: states[task.task_id] ?? 'cancelled',
        files: [...(result?.files ?? [])],
        ...(result && {
          summary: result.output.summary,
          attempts: result.attempts,
          duration_ms: result.durationMs,
        }),
        ...(result?.output.blockers && { blockers: result.output.blockers }),
        ...(why !== undefined && { because: why }),
      }
    },
  )
