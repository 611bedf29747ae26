import { AppError } from '../../contract/errors.ts'
import { author } from './author.ts'
import { ownGit } from './own-git.ts'
import type { OwnTree } from './own-tree.ts'
import { commitOf } from './refs.ts'
import { maybe } from './root-of.ts'

/** Commits all that is not ignored; the same words again, with nothing new, answer the commit that they made. */
export async function commitAll(
  { path }: OwnTree,
  message: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  if ((await commitOf(path, 'MERGE_HEAD', signal)) !== undefined)
    throw new AppError('conflict', `a merge is in progress in ${path}; conclude or abandon it first`)
  if ((await maybe(ownGit(path, ['symbolic-ref', '-q', 'HEAD'], signal))) === undefined)
    throw new AppError('conflict', `${path} is on no branch; check out the one it was opened with`)
  await ownGit(path, ['add', '-A'], signal)
  const tree = await ownGit(path, ['write-tree'], signal)
  if (tree === (await ownGit(path, ['rev-parse', 'HEAD^{tree}'], signal))) {
    // Cut off after the commit: only the words tell that it was this one.
    const last = await ownGit(path, ['log', '-1', '--format=%ce%n%B'], signal)
    const isOurs = last.trimEnd() === `${author.GIT_COMMITTER_EMAIL}\n${message.trimEnd()}`
    return isOurs ? commitOf(path, 'HEAD', signal) : undefined
  }
  return commitIndex(path, message, signal)
}

/** Commits what the index has, also as the end of a merge. */
export async function commitIndex(path: string, message: string, signal: AbortSignal): Promise<string> {
  await ownGit(path, ['commit', '-q', '--no-verify', '--cleanup=verbatim', '-m', message], signal)
  return (await ownGit(path, ['rev-parse', 'HEAD'], signal)).trim()
}
