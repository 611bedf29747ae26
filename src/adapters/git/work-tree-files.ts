import { join } from 'node:path'
import type { Branches } from '../../ports/branches.ts'
import { git, isThere, maybe, nulWords, type Options, placeOf } from './run-git.ts'

/** Where a folder stands, and whether all of its repository's work tree is committed. */
export const headOf: Branches['head'] = async (folder, signal) => {
  const place = await placeOf(folder, signal)
  const branch = await maybe(git(place.root, ['symbolic-ref', '--short', '-q', 'HEAD'], { signal }))
  const isClean = (await uncommittedIn(place.root, signal)).length === 0
  return { ...place, branch: branch ?? null, isClean }
}

/**
 * Adds files to the index as they are, also those that are gone: all that are not ignored, or some. Modules are added by
 * the commit that they stand at. To see what else changed in one, git would start another in it, under its settings.
 */
export async function stageFiles(
  root: string,
  options: Options & { readonly only?: readonly string[] },
): Promise<void> {
  const { only, ...rest } = options
  const modules = (await modulesIn(root, rest)).filter((path) => only?.includes(path) ?? true)
  const others = only
    ? only.filter((path) => !modules.includes(path)).map((path) => `:(top,literal)${path}`)
    : ['.', ...modules.map((path) => `:(top,exclude,literal)${path}`)]
  const env = { ...rest.env, GIT_LITERAL_PATHSPECS: '0' }
  const named = ['--pathspec-from-file=-', '--pathspec-file-nul']
  if (others.length > 0) await git(root, ['add', '-A', ...named], { ...rest, env, input: others.join('\0') })
  const update = ['update-index', '--add', '--remove', '-z', '--stdin']
  if (modules.length > 0) await git(root, update, { ...rest, input: `${modules.join('\0')}\0` })
}

/** The modules that an index has. */
async function modulesIn(root: string, options: Options): Promise<readonly string[]> {
  const entries = nulWords(await git(root, ['ls-files', '-s', '-z'], options))
  return entries.flatMap((entry) =>
    entry.startsWith('160000 ') ? [entry.slice(entry.indexOf('\t') + 1)] : [],
  )
}

/** Those of which something is checked out. */
async function checkedOut(root: string, signal: AbortSignal): Promise<readonly string[]> {
  const found = []
  for (const path of await modulesIn(root, { signal }))
    if (await isThere(join(root, path, '.git'))) found.push(path)
  return found
}

/** The files of a work tree that are not committed, with folders that are new as one, and modules in which there are some. */
export async function uncommittedIn(root: string, signal: AbortSignal): Promise<readonly string[]> {
  // Whoever does not want to see new files in git still loses them with the folder.
  const asked = ['status', '--porcelain', '-z', '--no-renames', '--untracked-files=normal']
  const status = await git(root, asked, { signal })
  const changed = new Set(nulWords(status).map((entry) => entry.slice(3)))
  for (const path of await checkedOut(root, signal))
    if (!changed.has(path) && (await uncommittedIn(join(root, path), signal)).length > 0) changed.add(path)
  return [...changed]
}

/** Whether a module, or one inside of it, has commits that are on no remote. */
export async function hasUnpushedModule(root: string, signal: AbortSignal): Promise<boolean> {
  for (const path of await checkedOut(root, signal)) {
    const module = join(root, path)
    if ((await git(module, ['rev-list', 'HEAD', '--not', '--remotes'], { signal })) !== '') return true
    if (await hasUnpushedModule(module, signal)) return true
  }
  return false
}
