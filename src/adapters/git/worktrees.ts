import { promises as fs } from 'node:fs'
import { AppError } from '../../contract/errors.ts'
import type { Workspace, Worktree } from '../../ports/workspace.ts'
import { maybe, rootOf } from './root-of.ts'
import { git } from './run-git.ts'

/** Work trees of single sessions: each on a branch of its own, and gone only when nothing is lost with it. */
export const worktrees: Pick<Workspace, 'planWorktree' | 'addWorktree' | 'removeWorktree'> = {
  async planWorktree(folder, branch, signal) {
    const root = await rootOf(folder, signal)
    if (root === undefined)
      throw new AppError('conflict', `${folder} is not in a git work tree, so it cannot have another`)
    const base = await maybe(git(root, ['rev-parse', '--verify', '-q', 'HEAD'], { signal }))
    if (base === undefined) throw new AppError('conflict', `${root} has no commit yet; make one first`)
    if ((await maybe(git(root, ['check-ref-format', '--branch', branch], { signal }))) === undefined)
      throw new AppError('invalid', `git takes no branch of the name ${branch}; choose another`)
    const known = await maybe(git(root, ['rev-parse', '--verify', '-q', `refs/heads/${branch}`], { signal }))
    if (known !== undefined)
      throw new AppError('conflict', `there is a branch ${branch} already; choose another name`)
    const inside = await maybe(git(folder, ['rev-parse', '--show-prefix'], { signal }))
    return { root, base, inside: (inside ?? '').replace(/\/$/, '') }
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
  const own = await maybe(git(path, ['rev-parse', '--verify', '-q', `refs/heads/${branch}`], { signal }))
  // Its branch may be ahead of what is checked out.
  for (const commit of new Set([head, own ?? head])) {
    if (commit === base) continue
    const list = ['for-each-ref', '--format=%(refname)', '--contains', commit, 'refs/heads', 'refs/remotes']
    const others = (await git(path, list, { signal })).split('\n')
    if (!others.some((ref) => ref !== '' && ref !== `refs/heads/${branch}`)) return false
  }
  return true
}

const isThere = (path: string): Promise<boolean> =>
  fs.access(path).then(
    () => true,
    () => false,
  )
