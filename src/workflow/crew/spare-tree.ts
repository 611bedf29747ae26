import type { Flow } from '../../ports/durable.ts'
import type { CrewInput, CrewParts } from './crew-parts.ts'
import { branchOf, folderOf, treeOf } from './places.ts'
import { refused } from './refused.ts'

type Spare<T> = {
  /** What the work tree and its branch are called, and the steps that open and close it. */
  readonly name: string
  readonly steps?: string
  readonly commit: string
  readonly act: (folder: string) => Promise<T>
}

type Around = { readonly parts: CrewParts; readonly input: CrewInput }

/** Does something in a work tree at a commit, which is thrown away with all that was done to it, also when that fails. */
export async function inSpareTree<T>(
  { parts, input }: Around,
  flow: Flow,
  { name, steps = '', commit, act }: Spare<T>,
): Promise<T> {
  const { root } = input.repo
  const { workflowId } = flow.root()
  const path = treeOf(parts.worktrees, workflowId, name)
  const branch = branchOf(workflowId, { task_id: name })
  await flow.step(`open${steps}`, ({ signal }) =>
    parts.branches.openWorktree(root, { path, branch, base: commit }, signal),
  )
  const close = () =>
    flow.step(`close${steps}`, ({ signal }) => closeSpare({ parts, input }, { path, branch, commit }, signal))
  const done = await act(folderOf(input, path)).catch(async (error: unknown) => {
    // Why it failed counts; what cannot be closed now is put away with the run.
    if (!flow.signal.aborted) await close().catch(() => {})
    throw error
  })
  await close()
  return done
}

/** Takes away a work tree with all that was done to it: that is nobody's work. */
export async function closeSpare(
  { parts, input }: Around,
  { path, branch, commit }: { readonly path: string; readonly branch: string; readonly commit: string },
  signal: AbortSignal,
): Promise<void> {
  const { branches } = parts
  const { root } = input.repo
  await undo(parts, { path, commit }, signal).catch(refused)
  await branches.closeWorktree(root, path, signal)
  await branches.dropBranch(root, branch, signal)
}

async function undo(
  { branches }: CrewParts,
  { path, commit }: { readonly path: string; readonly commit: string },
  signal: AbortSignal,
): Promise<void> {
  const { files } = await branches.changes(path, { from: commit }, signal)
  await branches.restore(path, { commit, files: files.map((file) => file.path) }, signal)
}
