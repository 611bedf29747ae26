import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AppError } from '../../contract/errors.ts'
import type { Workspace } from '../../ports/workspace.ts'
import { findPlace } from '../system/place.ts'
import { readNumstat } from './numstat.ts'
import { maybe, rootOf } from './root-of.ts'
import { git } from './run-git.ts'
import { unsavedIn } from './unsaved.ts'
import { worktrees } from './worktrees.ts'

const author = {
  GIT_AUTHOR_NAME: 'Muster',
  GIT_AUTHOR_EMAIL: 'muster@localhost',
  GIT_COMMITTER_NAME: 'Muster',
  GIT_COMMITTER_EMAIL: 'muster@localhost',
} as const

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
  async diff(folder, { from, to }, signal) {
    const root = await rootOf(folder, signal)
    if (root === undefined) throw new AppError('conflict', `${folder} is not in a git work tree`)
    // The work tree is compared as a snapshot would keep it, so that new files count too.
    const end = to ?? (await commitOfTree(root, undefined, signal))
    const plain = ['diff', '--no-ext-diff', '--no-color']
    const [numbers, names, diff] = await Promise.all([
      git(root, [...plain, '--no-renames', '--numstat', '-z', from, end], { signal }),
      git(root, [...plain, '--no-renames', '--name-status', '-z', from, end], { signal }),
      git(root, [...plain, '-M', from, end], { signal }),
    ])
    return { files: readNumstat(numbers, names), diff }
  },
  ...worktrees,
  unsaved: unsavedIn,
}

/** All files as they are, ignored ones left out, in an index of our own: the user's is not touched. */
async function commitOfTree(root: string, head: string | undefined, signal: AbortSignal): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'muster-git-'))
  const env = { ...author, GIT_INDEX_FILE: join(folder, 'index') }
  try {
    if (head !== undefined) await git(root, ['read-tree', head], { signal, env })
    await git(root, ['add', '-A', '--', '.'], { signal, env })
    const tree = (await git(root, ['write-tree'], { signal, env })).trim()
    const parents = head === undefined ? [] : ['-p', head]
    return (
      await git(root, ['commit-tree', tree, ...parents, '-m', 'muster milestone'], { signal, env })
    ).trim()
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
