import { AppError } from '../../contract/errors.ts'
import { maybe } from './root-of.ts'
import { git } from './run-git.ts'

/** The commit of a ref or any other name of one; undefined when there is none. */
export const commitOf = (folder: string, name: string, signal: AbortSignal): Promise<string | undefined> =>
  maybe(git(folder, ['rev-parse', '--verify', '-q', '--end-of-options', `${name}^{commit}`], { signal }))

/** The commit of a branch, or of what is no branch but names a commit; refused when there is none. */
export async function commitToUse(folder: string, name: string, signal: AbortSignal): Promise<string> {
  const commit =
    (await commitOf(folder, `refs/heads/${name}`, signal)) ?? (await commitOf(folder, name, signal))
  if (commit === undefined)
    throw new AppError(
      'not_found',
      `${folder} has no branch or commit ${name}; git branch lists what there is`,
    )
  return commit
}

/** Whether a commit is in the history of another. */
export async function isWithin(
  folder: string,
  { commit, of }: { readonly commit: string; readonly of: string },
  signal: AbortSignal,
): Promise<boolean> {
  const answer = git(folder, ['merge-base', '--is-ancestor', commit, of], { signal }).then(() => 'yes')
  return (await maybe(answer)) !== undefined
}

/** Whether a branch, other than the one named, has a commit in its history. */
export async function isOnBranch(
  folder: string,
  { commit, except }: { readonly commit: string; readonly except?: string },
  signal: AbortSignal,
): Promise<boolean> {
  const list = ['for-each-ref', '--format=%(refname)', '--contains', commit, 'refs/heads', 'refs/remotes']
  const refs = (await git(folder, list, { signal })).split('\n')
  return refs.some((ref) => ref !== '' && ref !== `refs/heads/${except}`)
}

/** Refuses what git takes for no name of a branch. */
export async function checkBranchName(folder: string, branch: string, signal: AbortSignal): Promise<void> {
  if ((await maybe(git(folder, ['check-ref-format', '--branch', branch], { signal }))) === undefined)
    throw new AppError('invalid', `git takes no branch of the name ${branch}; choose another`)
}
