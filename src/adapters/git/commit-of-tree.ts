import { copyFile, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { ownTemporary } from '../system/own-temporary.ts'
import { author } from './author.ts'
import { git } from './run-git.ts'

/** All files as they are, ignored ones left out, in an index of our own: the user's is not touched. */
export async function commitOfTree(
  root: string,
  parent: string | undefined,
  signal: AbortSignal,
): Promise<string> {
  const folder = await ownTemporary('git')
  const index = join(folder, 'index')
  const env = { ...author, GIT_INDEX_FILE: index }
  try {
    // It knows what only an index does: ignored files that are tracked, sparse checkouts, modules that are not there.
    await copyIndex(root, index, signal)
    await git(root, ['add', '-A', '--', '.'], { signal, env })
    const tree = (await git(root, ['write-tree'], { signal, env })).trim()
    const parents = parent === undefined ? [] : ['-p', parent]
    const made = await git(root, ['commit-tree', tree, ...parents, '-m', 'muster milestone'], { signal, env })
    return made.trim()
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function copyIndex(root: string, to: string, signal: AbortSignal): Promise<void> {
  const path = await git(root, ['rev-parse', '--path-format=absolute', '--git-path', 'index'], { signal })
  const from = path.replace(/\n$/, '')
  try {
    await copyFile(from, to)
    // Files younger than their index are compared by content: a copy that is younger itself would miss a change.
    const writtenAt = Math.floor((await stat(from)).mtimeMs / 1000)
    await utimes(to, writtenAt, writtenAt)
  } catch (error) {
    // A repository in which nothing was ever added has none.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}
