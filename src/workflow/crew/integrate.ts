import type { PlanTask } from '../../contract/collaboration/replies.ts'
import { AppError } from '../../contract/errors.ts'
import { conflictWork } from '../../core/collaboration/planned-work.ts'
import { integrationOrder } from '../../core/collaboration/task-graph.ts'
import type { Flow, Procedure } from '../../ports/durable.ts'
import { type Around, type Attempt, type Attempted, carryOut } from './carry-out.ts'
import { developerMs, type Someone } from './crew-parts.ts'
import { branchOf } from './places.ts'

type Integrating = Around & {
  readonly flow: Flow
  readonly round: number
  /** The work tree in which everything comes together. */
  readonly path: string
  readonly tasks: readonly PlanTask[]
  readonly resolver: Someone
}

/** Merges the branches of finished tasks, what a task depends on first; answers the commit with all of them. */
export async function integrate(integrating: Integrating): Promise<string> {
  const { flow, parts, path, round } = integrating
  for (const task of integrationOrder(integrating.tasks)) {
    const branch = branchOf(flow.id, task)
    const merge = { branch, message: `Merge ${task.task_id}: ${task.title}` }
    const merged = await flow.step(`merge-r${round}-${task.task_id}`, ({ signal }) =>
      parts.branches.merge(path, merge, signal),
    )
    if ('conflicts' in merged) await resolve(integrating, { task, merge, conflicts: merged.conflicts })
  }
  return flow.step(
    `integrated-r${round}`,
    async ({ signal }) => (await parts.branches.head(path, signal)).commit,
  )
}

type Conflict = {
  readonly task: PlanTask
  readonly merge: { readonly branch: string; readonly message: string }
  readonly conflicts: readonly string[]
}

/** A conflict is a task: a developer resolves it in the work tree, and git says whether it did. */
async function resolve(integrating: Integrating, { task, merge, conflicts }: Conflict): Promise<void> {
  const { flow, parts, path, round, resolver, input } = integrating
  const work = conflictWork({ task, files: conflicts, number: round })
  const settled = flow.child(`r${round}/merge-${task.task_id}#1`, resolving(integrating, merge), {
    work,
    number: 1,
    who: { ...resolver, id: `${resolver.id}-merge` },
    timeoutMs: developerMs(input),
    worktree: { path, branch: `muster/${flow.id}`, base: input.repo.base },
    needs: [],
    checks: [],
  })
  const { failure } = await settled.result()
  if (!failure) return
  await flow.step(`abandon-r${round}-${task.task_id}`, ({ signal }) =>
    parts.branches.abandonMerge(path, signal),
  )
  throw new AppError(
    'conflict',
    `the work of ${task.task_id} conflicts in ${conflicts.join(', ')}, and it could not be resolved (${failure.error}); its branch ${merge.branch} is kept`,
  )
}

/** Like any other task, but in the middle of a merge: git says whether it is resolved. */
const resolving = (around: Integrating, merge: Conflict['merge']): Procedure<Attempt, Attempted> => {
  const { branches } = around.parts
  return carryOut(around, {
    open: async ({ worktree }, signal) => (await branches.head(worktree.path, signal)).commit,
    async collect({ worktree }, start, signal) {
      const merged = await branches.concludeMerge(worktree.path, merge, signal)
      if ('conflicts' in merged) return { files: [], outside: [], left: merged.conflicts, commit: null }
      const { files } = await branches.changes(worktree.path, { from: start, to: merged.merged }, signal)
      return { files, outside: [], left: [], commit: merged.merged }
    },
  })
}
