import { lstat, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { nulWords } from './nul-words.ts'
import { ownGit } from './own-git.ts'
import { maybe } from './root-of.ts'

/** Paths of which the index has more than one version. */
export async function unmergedIn(path: string, signal: AbortSignal): Promise<readonly string[]> {
  const entries = nulWords(await ownGit(path, ['ls-files', '-u', '-z'], signal))
  return [...new Set(entries.map((entry) => entry.slice(entry.indexOf('\t') + 1)))]
}

/** What of a merge nobody has resolved yet, by the files as they are: not everybody tells git what is resolved. */
export async function unresolvedIn(
  path: string,
  { target, branch }: { readonly target: string; readonly branch: string },
  signal: AbortSignal,
): Promise<readonly string[]> {
  const left = new Set<string>()
  const unmerged = await unmergedIn(path, signal)
  const touched = new Set(await touchedOf(path, unmerged, signal))
  for (const file of unmerged) {
    const text = await textOf(join(path, file))
    // A path that git left nowhere and nobody made is one side of a rename: nothing of it can be resolved.
    const isSettled = touched.has(file) || text === undefined
    if (!isSettled || anyMarker.test(text ?? '')) left.add(file)
  }
  // What was told resolved, or committed, may have its markers still. Those of this merge carry its name.
  const differing = ['diff', '--name-only', '--no-renames', '-z', '--diff-filter=d', target]
  for (const file of nulWords(await ownGit(path, differing, signal))) {
    const text = (await textOf(join(path, file))) ?? ''
    if ([branch, target].some((name) => `\n${text}`.includes(`\n>>>>>>> ${name}`))) left.add(file)
  }
  return [...left].sort()
}

const anyMarker = /^(<{7}|>{7}|\|{7}) /m

/** Which of them are no longer as git left them. */
async function touchedOf(
  path: string,
  files: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const isKnown = await maybe(ownGit(path, ['rev-parse', '--verify', '-q', 'AUTO_MERGE'], signal))
  if (isKnown === undefined || files.length === 0) return []
  const asked = ['diff', '--name-only', '--no-renames', '-z', 'AUTO_MERGE', '--', ...files]
  return nulWords(await ownGit(path, asked, signal))
}

/** The text of a file; undefined when there is none. */
async function textOf(path: string): Promise<string | undefined> {
  const found = await lstat(path).catch(() => undefined)
  if (found === undefined) return undefined
  return found.isFile() ? readFile(path, 'latin1') : ''
}
