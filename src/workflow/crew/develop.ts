import { AppError } from '../../contract/errors.ts'
import { matchesGlob } from '../../core/delegation/globs.ts'
import type { Procedure } from '../../ports/durable.ts'
import { type Around, type Attempt, type Attempted, type Collected, carryOut } from './carry-out.ts'
import { below } from './places.ts'

/** A task of the plan, in its own work tree. */
export const develop = (around: Around): Procedure<Attempt, Attempted> =>
  carryOut(around, {
    open: (attempt, signal) => opened(around, attempt, signal),
    collect: (attempt, start, signal) => collected(around, { attempt, start }, signal),
  })

/** The work tree with all that the task needs in it. */
async function opened(
  { parts, input }: Around,
  { worktree, needs }: Attempt,
  signal: AbortSignal,
): Promise<string> {
  const { branches } = parts
  await branches.openWorktree(input.repo.root, worktree, signal)
  for (const branch of needs) {
    const merged = await branches.merge(worktree.path, { branch, message: `Take in ${branch}` }, signal)
    if ('conflicts' in merged) {
      await branches.abandonMerge(worktree.path, signal)
      throw new AppError(
        'conflict',
        `the work this task depends on conflicts: ${merged.conflicts.join(', ')}`,
      )
    }
  }
  return (await branches.head(worktree.path, signal)).commit
}

/** What git shows of the work; what is outside of the scope is put back. */
async function collected(
  { parts, input }: Around,
  { attempt, start }: { readonly attempt: Attempt; readonly start: string },
  signal: AbortSignal,
): Promise<Collected> {
  const { branches } = parts
  const { path } = attempt.worktree
  const { task } = attempt.work
  const globs = task.scope.map((glob) => below(input, glob))
  const { files } = await branches.changes(path, { from: start }, signal)
  const outside = files
    .map((file) => file.path)
    .filter((file) => !globs.some((glob) => matchesGlob(file, glob)))
  if (outside.length > 0) await branches.restore(path, { commit: start, files: outside }, signal)
  const commit = await branches.commitAll(
    path,
    `${task.title}\n\nTask: ${task.task_id}#${attempt.number}`,
    signal,
  )
  const left = await branches.changes(path, { from: start }, signal)
  // A later attempt may have left the work as it was, and a developer may have committed it.
  return {
    files: left.files,
    outside,
    left: [],
    commit: commit ?? (await branches.head(path, signal)).commit,
  }
}
