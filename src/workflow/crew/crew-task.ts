import type { TaskState } from '../../contract/collaboration/crew-report.ts'
import type { SpanId } from '../../contract/ids.ts'
import type { DeveloperOutput, FileChange } from '../../contract/session-file/outputs.ts'
import { assignmentPrompt } from '../../core/delegation/assignment.ts'
import { developerInput, type Work } from '../../core/delegation/developer-work.ts'
import { checksOfTask, type RequiredCheck } from '../../core/delegation/required-checks.ts'
import type { TaskFailure } from '../../core/delegation/task-failure.ts'
import { delegate } from '../../engine/delegation/delegate.ts'
import type { Place } from '../../engine/delegation/place.ts'
import type { Merge } from '../../ports/branches.ts'
import type { Procedure } from '../../ports/durable.ts'
import { beforeEnding, branchOf, type Someone, treeOf, workerOf } from './crew-parts.ts'
import type { CrewRun } from './crew-run.ts'

/** One attempt at a task, as data. */
export type Attempt = {
  readonly work: Work
  readonly number: number
  readonly who: Someone
  readonly timeoutMs: number
  readonly worktree: { readonly path: string; readonly branch: string; readonly base: string }
  /** The merge whose conflicts are the task, in the work tree where it was begun. */
  readonly merge?: Merge
  /** Branches whose work it needs. */
  readonly needs: readonly string[]
  /** The commands that the whole work will be checked with. */
  readonly checks: readonly RequiredCheck[]
  /** Where the first attempt began: what came of all of them together is the work. */
  readonly start?: string | undefined
  /** The node that it hangs under. */
  readonly nodeId: SpanId
}

/** What came of an attempt. */
export type Attempted = {
  readonly start?: string
  readonly state: Extract<TaskState, 'completed' | 'partial' | 'failed'>
  readonly output: DeveloperOutput
  readonly files: readonly FileChange[]
  readonly failure?: TaskFailure
  readonly durationMs: number
}

/** A developer at one attempt at a task. */
export const taskProcedure = (crew: CrewRun): Procedure<Attempt, Attempted> => ({
  name: 'task',
  version: '2',
  async run(flow, attempt) {
    const { parts, input, opened } = crew
    const { work, number, who, timeoutMs, checks } = attempt
    const { task } = work
    const { limits } = input.crew
    const place = placeOf(crew, attempt)
    const scopes = [task.scope]
    opened.set(task.task_id, { branch: attempt.worktree.branch })
    const given = developerInput(work, input)
    const assignment = { kind: 'developer', taskId: task.task_id, input: given } as const
    const { inside } = input.repo
    const before = `${task.task_id}${beforeEnding}`
    const id = flow.root().workflowId
    const done = await delegate(crew.delegationParts(), flow, {
      assignment,
      allowed: { scopes, timeoutMs },
      from: crew.orchestrator,
      to: workerOf(who),
      prompt: assignmentPrompt(assignment, { checks }),
      place,
      parentSpanId: attempt.nodeId,
      about: task.title,
      priority: task.priority,
      dependencies: task.depends_on.map(({ task_id }) => task_id),
      maxIterations: limits.maxIterations,
      progressMs: limits.progressSeconds * 1000,
      attempt: number,
      checks: {
        commands: checksOfTask(checks, task),
        timeoutMs: crew.reviewerMs,
        before: {
          root: input.repo.root,
          path: treeOf(parts.worktrees, id, before),
          branch: branchOf(id, { task_id: before }),
          inside,
        },
      },
      begun({ start }) {
        if (start !== undefined)
          opened.set(task.task_id, { branch: attempt.worktree.branch, work: { place, start, scopes } })
      },
    })
    const { state, failure, start, end } = done
    // A developer is always answered for by an output.
    const output = done.output as DeveloperOutput
    const { files_created: created, files_modified: modified, files_deleted: deleted } = output.changes
    const gone = deleted.map((path): FileChange => ({ path, change_type: 'deleted' }))
    return {
      state,
      output,
      files: [...created, ...modified, ...gone],
      durationMs: end?.durationMs ?? 0,
      ...(failure && { failure }),
      ...(start !== undefined && { start }),
    }
  },
})

function placeOf(
  { input }: CrewRun,
  { work, worktree, merge, needs, start, number }: Attempt,
): Exclude<Place, { kind: 'shared' }> {
  const { root, inside } = input.repo
  if (merge) return { kind: 'merge', path: worktree.path, inside, merge }
  const { title, task_id } = work.task
  const message = `${title}\n\nTask: ${task_id}#${number}`
  return { kind: 'tree', ...worktree, root, needs, start, inside, message }
}
