import { realpath } from 'node:fs/promises'
import type { Workspace } from '../../ports/workspace.ts'
import { findPlace } from '../system/place.ts'
import { commitOfTree } from './commit-of-tree.ts'
import { maybe, rootOf } from './root-of.ts'
import { git } from './run-git.ts'
import { treeDiff } from './tree-diff.ts'
import { unsavedIn } from './unsaved.ts'
import { worktrees } from './worktrees.ts'

/** Work trees by the git program of this machine. */
export const gitWorkspace: Workspace = {
  inside: async (folder, path) => (await findPlace(await realpath(folder), path)).relative,
  root: (folder, signal) => rootOf(folder, signal),
  async snapshot(folder, ref, signal) {
    const root = await rootOf(folder, signal)
    if (root === undefined) return undefined
    const head = await maybe(git(root, ['rev-parse', '--verify', '-q', 'HEAD'], { signal }))
    const branch = await maybe(git(root, ['symbolic-ref', '--short', '-q', 'HEAD'], { signal }))
    const commit = await commitOfTree(root, head, signal)
    await git(root, ['update-ref', ref, commit], { signal })
    return { commit, head: head ?? null, branch: branch ?? null }
  },
  async moveRef(folder, { from, to, commit }, signal) {
    // With nothing as its old value git refuses a name that is taken.
    if (to !== undefined) await git(folder, ['update-ref', to, commit, ''], { signal })
    await git(folder, ['update-ref', '-d', from, commit], { signal })
  },
  diff: treeDiff,
  ...worktrees,
  unsaved: unsavedIn,
}
