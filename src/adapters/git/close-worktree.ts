import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../contract/errors.ts'
import { findPlace } from '../system/place.ts'
import { type Machine, waitForGit } from './git-at-work.ts'
import { isThere } from './is-there.ts'
import { listedWorktrees } from './listed-worktrees.ts'
import { ownGit } from './own-git.ts'
import { ownTree } from './own-tree.ts'
import { commitOf, isOnBranch } from './refs.ts'

type Closing = { readonly root: string; readonly path: string }

/** Removes the folder of a work tree and keeps its branch. */
export async function closeWorktree(closing: Closing, machine: Machine, signal: AbortSignal): Promise<void> {
  const { root } = closing
  const path = (await findPlace(root, closing.path)).full
  const listed = (await listedWorktrees(root, signal)).find((one) => one.path === path)
  // Set aside as a whole: of a folder that is half gone nobody could say any more whether it was all committed.
  const aside = `${path}.muster-closing`
  if (await isThere(path)) {
    if (listed?.isHalfMade) await waitForGit(path, machine, signal)
    else await checkSaved(path, machine, signal)
    await rm(aside, { recursive: true, force: true })
    await rename(path, aside)
  }
  if (listed !== undefined) await ownGit(root, ['worktree', 'remove', '-f', '-f', path], signal)
  await rm(aside, { recursive: true, force: true })
}

async function checkSaved(path: string, machine: Machine, signal: AbortSignal): Promise<void> {
  const tree = await ownTree(path, machine, signal)
  const changed = await ownGit(tree.path, ['status', '--porcelain', '--untracked-files=all'], signal)
  if (changed !== '')
    throw new AppError('conflict', `${path} has files that are in no commit; commit or restore them first`)
  const head = (await commitOf(tree.path, 'HEAD', signal)) ?? ''
  if (!(await isOnBranch(tree.path, { commit: head }, signal)))
    throw new AppError('conflict', `${path} stands at ${head}, which is on no branch; make one of it first`)
  // The repositories of modules go with the work tree.
  if (!(await isThere(join(tree.gitFolder, 'modules')))) return
  const asked = ['submodule', '--quiet', 'foreach', '--recursive', 'git rev-list HEAD --not --remotes']
  if ((await ownGit(tree.path, asked, signal)) !== '')
    throw new AppError('conflict', `${path} has commits in a module that are on no remote; push them first`)
}
