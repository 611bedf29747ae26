import { AppError } from '../../contract/errors.ts'
import type { Branches } from '../../ports/branches.ts'
import { maybe } from './root-of.ts'
import { type GitFailure, git } from './run-git.ts'

/** Where a folder stands, and whether all of its repository's work tree is committed. */
export const headOf: Branches['head'] = async (folder, signal) => {
  const place = await placeOf(folder, signal)
  const branch = await maybe(git(place.root, ['symbolic-ref', '--short', '-q', 'HEAD'], { signal }))
  const changed = await git(place.root, ['status', '--porcelain', '--untracked-files=normal'], { signal })
  return { ...place, branch: branch ?? null, isClean: changed === '' }
}

/** The repository of a folder, the commit that is checked out, and where the folder is below the root. */
export async function placeOf(
  folder: string,
  signal: AbortSignal,
): Promise<{ readonly root: string; readonly commit: string; readonly inside: string }> {
  const root = await rootOrRefusal(folder, signal)
  const commit = await maybe(git(root, ['rev-parse', '--verify', '-q', 'HEAD'], { signal }))
  if (commit === undefined) throw new AppError('conflict', `${root} has no commit yet; make one first`)
  const inside = await git(folder, ['rev-parse', '--show-prefix'], { signal })
  return { root, commit, inside: inside.replace(/\/?\n$/, '') }
}

async function rootOrRefusal(folder: string, signal: AbortSignal): Promise<string> {
  try {
    return (await git(folder, ['rev-parse', '--show-toplevel'], { signal })).replace(/\n$/, '')
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'failed') throw error
    // A repository of another user: git itself says how to trust it.
    if ((error.details as GitFailure | undefined)?.isDistrusted)
      throw new AppError(
        'denied',
        `${folder} is in a repository of another user, which git does not trust; if you do, run: git config --global --add safe.directory <its root>`,
        { cause: error },
      )
    throw new AppError('conflict', `${folder} is not in a git work tree; run git init there or go to one`, {
      cause: error,
    })
  }
}
