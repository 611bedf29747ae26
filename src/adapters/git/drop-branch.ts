import type { Branches } from '../../ports/branches.ts'
import { listedWorktrees } from './listed-worktrees.ts'
import { ownGit } from './own-git.ts'
import { commitOf, isOnBranch } from './refs.ts'

/** Deletes a branch whose commits another one has. */
export const dropBranch: Branches['dropBranch'] = async (root, branch, signal) => {
  const commit = await commitOf(root, `refs/heads/${branch}`, signal)
  if (commit === undefined) return true
  if (!(await isOnBranch(root, { commit, except: branch }, signal))) return false
  if ((await listedWorktrees(root, signal)).some((one) => one.branch === branch)) return false
  await ownGit(root, ['branch', '-q', '-D', '--', branch], signal)
  return true
}
