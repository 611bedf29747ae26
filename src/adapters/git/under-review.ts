import { AppError } from '../../contract/errors.ts'
import type { Branches } from '../../ports/branches.ts'
import { commitOfTree } from './commit-of-tree.ts'
import { headOf } from './head.ts'
import { maybe } from './root-of.ts'
import { git } from './run-git.ts'

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
    throw new AppError('conflict', `${root} has one commit and nothing else; there is nothing to review yet`)
  return { since: before, commit }
}
