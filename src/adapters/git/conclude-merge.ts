import { AppError } from '../../contract/errors.ts'
import type { Merge, Merged } from '../../ports/branches.ts'
import { commitAll, commitIndex } from './commit-all.ts'
import { ownGit } from './own-git.ts'
import type { OwnTree } from './own-tree.ts'
import { commitOf, commitToUse, isWithin } from './refs.ts'
import { unresolvedIn } from './unresolved.ts'

/** Commits a merge of which nothing is left to resolve; else answers what is left. */
export async function concludeMerge(
  tree: OwnTree,
  { branch, message }: Merge,
  signal: AbortSignal,
): Promise<Merged> {
  const { path } = tree
  const target = await commitToUse(path, branch, signal)
  const isPending = (await commitOf(path, 'MERGE_HEAD', signal)) === target
  const head = (await commitOf(path, 'HEAD', signal)) ?? ''
  const isIn = await isWithin(path, { commit: target, of: head }, signal)
  if (!isPending && !isIn)
    throw new AppError('conflict', `no merge of ${branch} is in progress in ${path}; merge it again`)
  const conflicts = await unresolvedIn(path, { target, branch }, signal)
  if (conflicts.length > 0) return { conflicts }
  // Cut off after the commit, or committed by who resolved it: the note of the merge, or files, may be left.
  if (isIn) {
    if (isPending) await ownGit(path, ['merge', '--quit'], signal)
    return { merged: (await commitAll(tree, message, signal)) ?? head }
  }
  await ownGit(path, ['add', '-A'], signal)
  return { merged: await commitIndex(path, message, signal) }
}
