import type { Unsaved } from '../../ports/workspace.ts'
import { nulWords } from './nul-words.ts'
import { maybe, rootOf } from './root-of.ts'
import { git } from './run-git.ts'

/** What of a folder is in no commit, and which commits are on no remote. */
export async function unsavedIn(folder: string, signal: AbortSignal): Promise<Unsaved | undefined> {
  const root = await rootOf(folder, signal)
  if (root === undefined) return undefined
  const status = await git(root, ['status', '--porcelain', '-z', '--no-renames'], { signal })
  const changed = nulWords(status).map((entry) => entry.slice(3))
  const branch = (await maybe(git(root, ['symbolic-ref', '--short', '-q', 'HEAD'], { signal }))) ?? null
  const hasRemote = (await maybe(git(root, ['remote'], { signal }))) !== undefined
  const ahead = hasRemote
    ? await maybe(git(root, ['rev-list', '--count', 'HEAD', '--not', '--remotes'], { signal }))
    : undefined
  return { root, changed, branch, unpushed: Number(ahead ?? 0) }
}
