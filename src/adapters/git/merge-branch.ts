import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../contract/errors.ts'
import type { Merge, Merged } from '../../ports/branches.ts'
import { replaceFile } from '../system/durable-files.ts'
import { concludeMerge } from './conclude-merge.ts'
import { ownGit } from './own-git.ts'
import type { OwnTree } from './own-tree.ts'
import { commitOf, commitToUse, isWithin } from './refs.ts'
import { unmergedIn } from './unresolved.ts'

/** Merges a branch into that of the work tree; conflicts stay there for somebody to resolve. */
export async function mergeBranch(tree: OwnTree, merge: Merge, signal: AbortSignal): Promise<Merged> {
  const { path } = tree
  const target = await commitToUse(path, merge.branch, signal)
  await undoHalfMerge(tree, signal)
  const pending = await commitOf(path, 'MERGE_HEAD', signal)
  const head = (await commitOf(path, 'HEAD', signal)) ?? ''
  if (pending === target) return concludeMerge(tree, merge, signal)
  if (pending !== undefined)
    throw new AppError('conflict', `another merge is in progress in ${path}; conclude or abandon it first`)
  if (await isWithin(path, { commit: target, of: head }, signal)) return { merged: head }
  if ((await ownGit(path, ['status', '--porcelain', '--untracked-files=all'], signal)) !== '')
    throw new AppError('conflict', `${path} has files that are in no commit; commit or restore them first`)
  await replaceFile(beginning(tree), head)
  const conflicts = await tryMerge(tree, { ...merge, target }, signal)
  await rm(beginning(tree), { force: true })
  if (conflicts !== undefined) return { conflicts }
  return { merged: (await ownGit(path, ['rev-parse', 'HEAD'], signal)).trim() }
}

/** Puts the work tree back to its branch, with all that was done about a merge lost. */
export async function abandonMerge(tree: OwnTree, signal: AbortSignal): Promise<void> {
  await undoHalfMerge(tree, signal)
  if ((await commitOf(tree.path, 'MERGE_HEAD', signal)) !== undefined) await backToHead(tree, signal)
}

/** Git writes the files of a merge before it notes that it merges: a kill in between leaves files of nobody's. */
async function undoHalfMerge(tree: OwnTree, signal: AbortSignal): Promise<void> {
  const begun = await readFile(beginning(tree), 'utf8').catch(() => undefined)
  if (begun === undefined) return
  const isHalf =
    begun === (await commitOf(tree.path, 'HEAD', signal)) &&
    (await commitOf(tree.path, 'MERGE_HEAD', signal)) === undefined
  // All was committed when it began, so nothing but the merge is lost.
  if (isHalf) await backToHead(tree, signal)
  await rm(beginning(tree), { force: true })
}

async function backToHead({ path }: OwnTree, signal: AbortSignal): Promise<void> {
  await ownGit(path, ['reset', '-q', '--hard', 'HEAD'], signal)
  await ownGit(path, ['clean', '-f', '-d', '-q'], signal)
}

async function tryMerge(
  tree: OwnTree,
  { branch, target, message }: Merge & { readonly target: string },
  signal: AbortSignal,
): Promise<readonly string[] | undefined> {
  const { path } = tree
  // Conflict markers name what was merged: a branch where that says the same as the commit.
  const name = (await commitOf(path, branch, signal)) === target ? branch : target
  try {
    const plain = ['--no-ff', '--no-edit', '--no-verify', '--no-squash', '--commit', '-q']
    await ownGit(path, ['merge', ...plain, '-m', message, name], signal)
    return undefined
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'failed') throw error
    if ((await commitOf(path, 'MERGE_HEAD', signal)) !== undefined) return unmergedIn(path, signal)
    await undoHalfMerge(tree, signal)
    throw error
  }
}

const beginning = ({ gitFolder }: OwnTree): string => join(gitFolder, 'muster-merge')
