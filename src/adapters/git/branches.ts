import { Turns } from '../../contract/turns.ts'
import type { Branches } from '../../ports/branches.ts'
import { dropBranch, landBranch } from './land-branch.ts'
import { abandonMerge, commitAll, concludeMerge, mergeBranch } from './merge-branch.ts'
import { restoreFiles } from './restore-files.ts'
import { treeDiff, underReview } from './tree-diff.ts'
import { headOf } from './work-tree-files.ts'
import { closeWorktree, type Machine, openWorktree, ownTree, worktreesIn } from './worktrees.ts'

/** Branches by the git program of this machine. */
export function gitBranches(machine: Machine): Branches {
  // Git that makes or lists work trees trips over another that is half made.
  const turns = new Turns<string>()
  const own = (path: string, signal: AbortSignal) => ownTree(path, machine, signal)
  return {
    head: headOf,
    underReview,
    openWorktree: (root, worktree, signal) =>
      turns.take(root, () => openWorktree({ ...worktree, root }, machine, signal)),
    commitAll: async (path, message, signal) => commitAll(await own(path, signal), message, signal),
    changes: treeDiff,
    restore: async (path, from, signal) => restoreFiles(await own(path, signal), from, signal),
    merge: async (path, merge, signal) => mergeBranch(await own(path, signal), merge, signal),
    concludeMerge: async (path, merge, signal) => concludeMerge(await own(path, signal), merge, signal),
    abandonMerge: async (path, signal) => abandonMerge(await own(path, signal), signal),
    land: (root, branches, signal) => turns.take(root, () => landBranch(root, branches, signal)),
    worktreesIn: (root, folder, signal) => turns.take(root, () => worktreesIn(root, folder, signal)),
    closeWorktree: (root, path, signal) =>
      turns.take(root, () => closeWorktree({ root, path }, machine, signal)),
    dropBranch: (root, branch, signal) => turns.take(root, () => dropBranch(root, branch, signal)),
  }
}
