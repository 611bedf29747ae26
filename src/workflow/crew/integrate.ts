import type { PlanTask } from '../../contract/collaboration/replies.ts'
import { AppError } from '../../contract/errors.ts'
import type { SpanId } from '../../contract/ids.ts'
import { conflictWork } from '../../core/collaboration/planned-work.ts'
import { integrationOrder } from '../../core/collaboration/task-graph.ts'
import type { Merge } from '../../ports/branches.ts'
import { branchOf } from './crew-parts.ts'
import type { CrewRun } from './crew-run.ts'

type Integrating = {
  readonly round: number
  readonly tasks: readonly PlanTask[]
  /** The node that conflicts hang under. */
  readonly nodeId: SpanId
}

/** Merges the branches of finished tasks, what a task depends on first; answers the commit with all of them. */
export async function integrate(crew: CrewRun, given: Integrating): Promise<string> {
  const { flow, parts, path } = crew
  const { round } = given
  for (const task of integrationOrder(given.tasks)) {
    const branch = branchOf(flow.id, task)
    const merge = { branch, message: `Merge ${task.task_id}: ${task.title}` }
    const merged = await flow.step(`merge-r${round}-${task.task_id}`, ({ signal }) =>
      parts.branches.merge(path, merge, signal),
    )
    if ('conflicts' in merged) await resolve(crew, given, { task, merge, conflicts: merged.conflicts })
  }
  return flow.step(
    `integrated-r${round}`,
    async ({ signal }) => (await parts.branches.head(path, signal)).commit,
  )
}

type Conflict = {
  readonly task: PlanTask
  readonly merge: Merge
  readonly conflicts: readonly string[]
}

/** A conflict is a task like any other, in the middle of a merge: git says whether it is resolved. */
async function resolve(
  crew: CrewRun,
  { round, nodeId }: Integrating,
  { task, merge, conflicts }: Conflict,
): Promise<void> {
  const { flow, parts, path, branch, input } = crew
  const [resolver] = crew.developers
  if (!resolver) throw new Error('a crew without developers has nothing to put together')
  const resolving = flow.child(`r${round}/merge-${task.task_id}#1`, crew.task, {
    work: conflictWork({ task, files: conflicts, number: round }),
    number: 1,
    who: { ...resolver, id: `${resolver.id}-merge` },
    timeoutMs: crew.developerMs,
    worktree: { path, branch, base: input.repo.base },
    merge,
    needs: [],
    checks: [],
    nodeId,
  })
  const { failure } = await resolving.result()
  if (!failure) return
  await flow.step(`abandon-r${round}-${task.task_id}`, ({ signal }) =>
    parts.branches.abandonMerge(path, signal),
  )
  throw new AppError(
    'conflict',
    `the work of ${task.task_id} conflicts in ${conflicts.join(', ')}, and it could not be resolved (${failure.error}); its branch ${merge.branch} is kept`,
  )
}
