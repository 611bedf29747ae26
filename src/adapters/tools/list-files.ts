import { promises as fs, lstatSync, type Stats } from 'node:fs'
import { join, relative } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { AppError } from '../../contract/errors.ts'
import { askProgram } from '../system/ask-program.ts'
import type { Place } from '../system/place.ts'
import { streamProgram } from './stream-program.ts'

/** A regular file, by its path below the workspace. */
export type ListedFile = { readonly path: string; readonly mtimeMs: number; readonly size: number }

type Listing = {
  /** Which paths below the base are wanted. */
  readonly wants: (path: string) => boolean
  /** The environment that git runs in. */
  readonly env: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

type Listed = { readonly files: readonly ListedFile[]; readonly isCut: boolean }

const mostFiles = 100_000
const mostDeep = 8
const atOnce = 256

/**
 * Regular files in a folder, without what git ignores where there is a repository. No link is followed, so that
 * nothing outside of the folder is among them.
 */
export async function listFiles(base: Place, listing: Listing): Promise<Listed> {
  const stat = await fs.lstat(base.full)
  if (!stat.isDirectory()) return { files: [listed(base, '', stat)], isCut: false }
  const files: ListedFile[] = []
  let count = 0
  for await (const paths of pathsIn(base.full, listing, 0)) {
    listing.signal.throwIfAborted()
    for (const [i, path] of paths.entries()) {
      if (i % atOnce === 0) await turn()
      if (!listing.wants(path)) continue
      const found = lstatSync(join(base.full, path), { throwIfNoEntry: false })
      if (found?.isFile()) files.push(listed(base, path, found))
    }
    count += paths.length
    if (count > mostFiles || files.length > mostFiles) return { files, isCut: true }
  }
  return { files, isCut: false }
}

const listed = (base: Place, path: string, { mtimeMs, size }: Stats): ListedFile => ({
  path: relative(base.workspace, join(base.full, path)),
  mtimeMs,
  size,
})

/** Paths below a folder, as git lists them or by walking. */
async function* pathsIn(folder: string, listing: Listing, depth: number): AsyncGenerator<readonly string[]> {
  const inside = await gitPaths(folder, listing)
  if (!inside) return yield* walk(folder)
  for await (const paths of inside) {
    yield paths.filter((path) => !path.endsWith('/'))
    // A repository inside of this one comes as one name.
    for (const path of paths) {
      const name = path.replace(/\/$/, '')
      const isFolder = lstatSync(join(folder, name), { throwIfNoEntry: false })?.isDirectory()
      if (!isFolder || depth === mostDeep) continue
      for await (const below of pathsIn(join(folder, name), listing, depth + 1))
        yield below.map((one) => `${name}/${one}`)
    }
  }
}

// What a repository's own settings would have run at each look at its files.
const harmless = ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null']

/** Nothing where git has nothing to say: no repository, no git, or a folder that is ignored as a whole. */
async function gitPaths(folder: string, { env, signal }: Listing) {
  const asking = { signal, env: { ...env, GIT_OPTIONAL_LOCKS: '0', LC_ALL: 'C' } }
  const ignored = await askProgram('git', ['-C', folder, ...harmless, 'check-ignore', '-q', '.'], asking)
  if (ignored?.code !== 1) return undefined
  const args = [...harmless, 'ls-files', '-co', '--exclude-standard', '--deduplicate', '-z']
  return streamProgram('git', args, { ...asking, folder, separator: '\0' })
}

/** Never of interest unless they are asked for. */
const passedOver = new Set(['.git', '.hg', '.svn', 'node_modules'])

async function* walk(root: string): AsyncGenerator<readonly string[]> {
  const folders = ['']
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const at = folder
    const entries = await fs.readdir(join(root, at), { withFileTypes: true }).catch(unreadable)
    const names = entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))
    yield names.filter((entry) => entry.isFile()).map((entry) => join(at, entry.name))
    for (const entry of names.toReversed())
      if (entry.isDirectory() && !passedOver.has(entry.name)) folders.push(join(at, entry.name))
  }
}

function unreadable(error: NodeJS.ErrnoException): [] {
  if (['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM'].includes(error.code ?? '')) return []
  throw error
}

/** The refusal of a folder that is not there. */
export async function mustExist(base: Place, given: string): Promise<void> {
  const isThere = await fs.lstat(base.full).then(
    () => true,
    () => false,
  )
  if (!isThere)
    throw new AppError('not_found', `${given} does not exist; look with Glob from the project's folder`)
}
