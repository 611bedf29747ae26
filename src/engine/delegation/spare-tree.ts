import { AppError } from '../../contract/errors.ts'
import type { Branches } from '../../ports/branches.ts'
import type { Steps } from '../../ports/durable.ts'

/** A work tree that is thrown away, as data. */
export type SpareTree = {
  readonly root: string
  readonly path: string
  readonly branch: string
  /** The commit that it is at. */
  readonly commit: string
  readonly inside: string
}

type Using<T> = SpareTree & {
  /** Behind the names of the steps that open and close it. */
  readonly steps?: string
  readonly act: (folder: string) => Promise<T>
}

/** Does something in a work tree at a commit, which is thrown away with all that was done to it, also when that fails. */
export async function inSpareTree<T>(
  branches: Branches,
  flow: Steps,
  { steps = '', act, ...tree }: Using<T>,
): Promise<T> {
  const { root, path, branch, commit: base, inside } = tree
  await flow.step(`open${steps}`, ({ signal }) => branches.openWorktree(root, { path, branch, base }, signal))
  const close = () => flow.step(`close${steps}`, ({ signal }) => closeSpareTree(branches, tree, signal))
  const done = await act(inside === '' ? path : `${path}/${inside}`).catch(async (error: unknown) => {
    // Why it failed counts; what cannot be closed now is put away with the run.
    if (!flow.signal.aborted) await close().catch(() => {})
    throw error
  })
  await close()
  return done
}

/** Takes away a work tree with all that was done to it: that is nobody's work. */
export async function closeSpareTree(
  branches: Branches,
  { root, path, branch, commit }: Omit<SpareTree, 'inside'>,
  signal: AbortSignal,
): Promise<void> {
  await undo(branches, { path, commit }, signal).catch(passRefusal)
  await branches.closeWorktree(root, path, signal)
  await branches.dropBranch(root, branch, signal)
}

async function undo(
  branches: Branches,
  { path, commit }: Pick<SpareTree, 'path' | 'commit'>,
  signal: AbortSignal,
): Promise<void> {
  const { files } = await branches.changes(path, { from: commit }, signal)
  await branches.restore(path, { commit, files: files.map((file) => file.path) }, signal)
}

/** Lets a refusal pass: what would be lost stays where it is, and what is gone already need not go. */
export function passRefusal(error: unknown): void {
  if (!(error instanceof AppError)) throw error
}
