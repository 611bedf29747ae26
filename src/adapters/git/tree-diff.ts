import { copyFile, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../contract/errors.ts'
import type { Branches } from '../../ports/branches.ts'
import type { ChangedFile, Workspace } from '../../ports/workspace.ts'
import { ownTemporary } from '../system/temporary-files.ts'
import { author, git, maybe, nulWords, rootOf } from './run-git.ts'
import { headOf, stageFiles } from './work-tree-files.ts'

/** From a commit to another, or to the work tree as it is. */
export const treeDiff: Workspace['diff'] = async (folder, { from, to }, signal) => {
  const root = await rootOf(folder, signal)
  if (root === undefined) throw new AppError('conflict', `${folder} is not in a git work tree`)
  // The work tree is compared as a snapshot would keep it, so that new files count too.
  const end = to ?? (await commitOfTree(root, undefined, signal))
  const [numbers, names, diff] = await Promise.all([
    git(root, [...plain, '--no-renames', '--numstat', '-z', from, end], { signal }),
    git(root, [...plain, '--no-renames', '--name-status', '-z', from, end], { signal }),
    git(root, [...plain, '-M', from, end], { signal }),
  ])
  return { files: readNumstat(numbers, names), diff }
}

// Settings of the user must not change what readers of the text rely on.
const plain = ['diff', '--no-color', '--no-relative', '--src-prefix=a/', '--dst-prefix=b/']

const changes: Readonly<Record<string, ChangedFile['change']>> = {
  A: 'created',
  D: 'deleted',
  M: 'modified',
  T: 'modified',
}

/** Joins `git diff --numstat -z` and `--name-status -z`, both without renames. */
function readNumstat(numbers: string, names: string): ChangedFile[] {
  const words = nulWords(names)
  const kinds = new Map<string, ChangedFile['change']>()
  for (let i = 0; i + 1 < words.length; i += 2)
    kinds.set(words[i + 1] as string, changes[words[i]?.[0] ?? 'M'] ?? 'modified')
  return nulWords(numbers).map((line) => {
    const [added = '-', removed = '-', ...rest] = line.split('\t')
    const path = rest.join('\t')
    const count = (text: string) => (text === '-' ? null : Number(text))
    return { path, change: kinds.get(path) ?? 'modified', added: count(added), removed: count(removed) }
  })
}

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
    await stageFiles(root, { signal, env })
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

/** What a branch may have begun at, the likeliest first. */
const trunks = ['@{upstream}', 'refs/remotes/origin/HEAD', 'refs/heads/main', 'refs/heads/master']

/** The work of a folder as it is, uncommitted files too, and the commit that it began at. */
export const underReview: Branches['underReview'] = async (folder, signal) => {
  const { root, commit: head, isClean } = await headOf(folder, signal)
  const commit = isClean ? head : await commitOfTree(root, head, signal)
  for (const trunk of trunks) {
    const since = (await maybe(git(root, ['merge-base', trunk, head], { signal })))?.trim()
    if (since !== undefined && (since !== head || !isClean)) return { since, commit }
  }
  const before = (await maybe(git(root, ['rev-parse', '--verify', '-q', `${head}^`], { signal })))?.trim()
  if (before === undefined)
    throw new AppError('conflict', `${root} has only one commit; there is nothing to review yet`)
  return { since: before, commit }
}
