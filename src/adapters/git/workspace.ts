import { realpath } from 'node:fs/promises'
import type { Unsaved, Workspace } from '../../ports/workspace.ts'
import { findPlace } from '../system/place.ts'
import { git, maybe, rootOf } from './run-git.ts'
import { commitOfTree, treeDiff } from './tree-diff.ts'
import { uncommittedIn } from './work-tree-files.ts'
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

/** What of a folder is in no commit, and which commits are on no remote. */
async function unsavedIn(folder: string, signal: AbortSignal): Promise<Unsaved | undefined> {
  const root = await rootOf(folder, signal)
  if (root === undefined) return undefined
  const changed = await uncommittedIn(root, signal)
  const branch = (await maybe(git(root, ['symbolic-ref', '--short', '-q', 'HEAD'], { signal }))) ?? null
  const hasRemote = (await maybe(git(root, ['remote'], { signal }))) !== undefined
  const ahead = hasRemote
    ? await maybe(git(root, ['rev-list', '--count', 'HEAD', '--not', '--remotes'], { signal }))
    : undefined
  return { root, changed, branch, unpushed: Number(ahead ?? 0) }
}
