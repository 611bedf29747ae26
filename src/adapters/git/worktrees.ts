import { AppError } from '../../contract/errors.ts'
import type { Workspace, Worktree } from '../../ports/workspace.ts'
import { placeOf } from './head.ts'
import { isThere } from './is-there.ts'
import { checkBranchName, commitOf, isOnBranch } from './refs.ts'
import { maybe } from './root-of.ts'
import { git } from './run-git.ts'

/** Work trees of single sessions: each on a branch of its own, and gone only when nothing is lost with it. */
export const worktrees: Pick<Workspace, 'planWorktree' | 'addWorktree' | 'removeWorktree'> = {
  async planWorktree(folder, branch, signal) {
    const { root, commit, inside } = await placeOf(folder, signal)
    await checkBranchName(root, branch, signal)
    if ((await commitOf(root, `refs/heads/${branch}`, signal)) !== undefined)
      throw new AppError('conflict', `there is a branch ${branch} already; choose another name`)
    return { root, base: commit, inside }
  },
  async addWorktree(root, { path, branch, base }, signal) {
    await git(root, ['worktree', 'add', '-q', '-b', branch, path, base], { signal })
  },
  async removeWorktree(worktree, signal) {
    const { path, branch } = worktree
    if (!(await isThere(path))) return true
    const store = await maybe(
      git(path, ['rev-parse', '--path-format=absolute', '--git-common-dir'], { signal }),
    )
    if (store === undefined || !(await isSaved(worktree, signal))) return false
    // Not forced: what was written in the meantime makes git refuse.
    const isGone = await maybe(git(store, ['worktree', 'remove', path], { signal }).then(() => 'gone'))
    if (isGone === undefined) return false
    await maybe(git(store, ['branch', '-D', branch], { signal }))
    return true
  },
}

/** Whether all is committed, and what was committed is on another branch too. */
async function isSaved({ path, branch, base }: Worktree, signal: AbortSignal): Promise<boolean> {
  const changed = await git(path, ['status', '--porcelain', '--untracked-files=all'], { signal })
  if (changed !== '') return false
  const head = (await git(path, ['rev-parse', 'HEAD'], { signal })).trim()
  const own = await commitOf(path, `refs/heads/${branch}`, signal)
  // Its branch may be ahead of what is checked out.
  for (const commit of new Set([head, own ?? head])) {
    if (commit === base) continue
    if (!(await isOnBranch(path, { commit, except: branch }, signal))) return false
  }
  return true
}
