import { AppError } from '../../contract/errors.ts'
import { commitOfTree } from './commit-of-tree.ts'
import { isThere } from './is-there.ts'
import { nulWords } from './nul-words.ts'
import { ownGit } from './own-git.ts'
import { git } from './run-git.ts'

type Step = { readonly into: string; readonly from: string; readonly to: string }

/** Moves a branch forward where the user has it checked out; refused when something of theirs is in the way. */
export async function updateCheckout(
  path: string,
  { into, from, to }: Step,
  signal: AbortSignal,
): Promise<void> {
  const lock = await git(path, ['rev-parse', '--path-format=absolute', '--git-path', 'index.lock'], {
    signal,
  })
  if (await isThere(lock.trim()))
    throw new AppError(
      'conflict',
      `git works in ${path}, or was killed there; when no git runs any more, delete ${lock.trim()} and try again`,
    )
  const changed = await named(path, ['diff', '--name-only', '--no-renames', '-z', from], signal)
  const made = await named(path, ['ls-files', '-o', '--exclude-standard', '-z'], signal)
  const coming = new Set(await between(path, [from, to], signal))
  // Files that git does not know stay where they are, unless they are in the way.
  const written = [...changed, ...made.filter((file) => coming.has(file))]
  const other = new Set(await between(path, [await commitOfTree(path, undefined, signal), to], signal))
  const theirs = written.filter((file) => other.has(file))
  if (theirs.length > 0)
    throw new AppError(
      'conflict',
      `${path} has changes in ${theirs.join(', ')} that are in no commit; commit or stash them and land it again`,
      { details: { files: theirs } },
    )
  // Cut off before, git had already written some of these files: they are what they are to become.
  if (written.length > 0) await ownGit(path, ['add', '-A', '--', ...written], signal)
  const merge = ['merge', '-q', '--ff-only', '--no-squash', '--no-verify', '--no-overwrite-ignore', to]
  await ownGit(path, merge, signal).catch((cause: unknown) => {
    if (!(cause instanceof AppError) || cause.code !== 'failed') throw cause
    throw new AppError(
      'conflict',
      `${into} could not be moved in ${path} (${cause.message}); make room for it and land it again`,
      { cause },
    )
  })
}

const between = (path: string, [from, to]: readonly [string, string], signal: AbortSignal) =>
  named(path, ['diff', '--name-only', '--no-renames', '-z', from, to], signal)

async function named(path: string, args: readonly string[], signal: AbortSignal): Promise<readonly string[]> {
  return nulWords(await ownGit(path, args, signal))
}
