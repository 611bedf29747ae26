import { AppError } from '../../contract/errors.ts'
import type { Branches } from '../../ports/branches.ts'
import { author } from './author.ts'
import { isThere } from './is-there.ts'
import { listedWorktrees } from './listed-worktrees.ts'
import { nulWords } from './nul-words.ts'
import { ownGit } from './own-git.ts'
import { commitOf, commitToUse, isWithin } from './refs.ts'
import { git } from './run-git.ts'
import { updateCheckout } from './update-checkout.ts'

/** Brings a finished branch into a branch of the user's, when nothing is lost and nothing conflicts. */
export const landBranch: Branches['land'] = async (root, { branch, into }, signal) => {
  const from = await commitOf(root, `refs/heads/${into}`, signal)
  if (from === undefined)
    throw new AppError('not_found', `there is no branch ${into}; name one that git branch lists`)
  const tip = await commitToUse(root, branch, signal)
  if (await isWithin(root, { commit: tip, of: from }, signal)) return from
  const isAhead = await isWithin(root, { commit: from, of: tip }, signal)
  const to = isAhead ? tip : await mergeOf(root, { branch, into, from, tip }, signal)
  const holder = (await listedWorktrees(root, signal)).find((one) => one.branch === into)
  if (holder === undefined) {
    // Only from the commit that was looked at: what was committed meanwhile must not be lost.
    await ownGit(root, ['update-ref', '-m', `land ${branch}`, `refs/heads/${into}`, to, from], signal)
    return to
  }
  if (!(await isThere(holder.path)))
    throw new AppError(
      'conflict',
      `${into} is checked out in ${holder.path}, which is gone; run git worktree prune and try again`,
    )
  await updateCheckout(holder.path, { into, from, to }, signal)
  return to
}

type Sides = { readonly branch: string; readonly into: string; readonly from: string; readonly tip: string }

/** A merge that touches no work tree, so that a refusal leaves nothing behind. */
async function mergeOf(
  root: string,
  { branch, into, from, tip }: Sides,
  signal: AbortSignal,
): Promise<string> {
  const merge = ['merge-tree', '--write-tree', '--name-only', '--no-messages', '-z', from, tip]
  const answer = await ownGit(root, merge, signal).catch((error: unknown) => {
    const { code, stdout } = ((error as AppError).cause ?? {}) as { code?: unknown; stdout?: string }
    if (code !== 1 || stdout === undefined) throw error
    return stdout
  })
  const [tree = '', ...conflicts] = nulWords(answer)
  if (conflicts.length > 0)
    throw new AppError(
      'conflict',
      `${into} and ${branch} change the same places of ${conflicts.join(', ')}; merge ${into} into ${branch}, resolve it there and land it again`,
      { details: { files: conflicts } },
    )
  // The dates of what it is made of: made again it is the same commit.
  const date = (await git(root, ['show', '-s', '--format=%cI', tip], { signal })).trim()
  const made = git(root, ['commit-tree', tree, '-p', from, '-p', tip, '-m', `Merge ${branch} into ${into}`], {
    signal,
    env: { ...author, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date },
  })
  return (await made).trim()
}
