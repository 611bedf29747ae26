import { promises as fs } from 'node:fs'
import { join } from 'node:path'
import { findPlace } from '../system/place.ts'
import { holdFolder } from './held-folder.ts'

/** The folders that walls open for some globs. */
export type WritableFolders = AsyncDisposable & {
  /** Full paths, links resolved. */
  readonly folders: readonly string[]
  /** Whether all that lies in them may be changed; else what may not has to be told apart afterwards. */
  readonly isExact: boolean
}

/**
 * Walls open whole folders: the part of each glob before its first wildcard. A folder that is not there yet is made,
 * since nothing can be opened otherwise, and taken away again when it stays empty.
 */
export async function writableFolders(workspace: string, globs: readonly string[]): Promise<WritableFolders> {
  const folders = new Set<string>()
  const made: string[] = []
  let isExact = true
  for (const glob of globs) {
    const { prefix, rest } = splitGlob(glob)
    const isWhole = rest === '' ? await isFolder(workspace, prefix) : /^\*\*(\/\*\*?)*$/.test(rest)
    const named = rest === '' && !isWhole ? prefix.split('/').slice(0, -1).join('/') : prefix
    const place = await findPlace(workspace, named === '' ? '.' : named)
    // A link leads out of the project: nothing there is opened.
    if (place.relative === '..' || place.relative.startsWith('../')) continue
    isExact &&= isWhole
    made.push(...(await missing(workspace, place.relative)))
    await (await holdFolder(workspace, place.relative, { create: true }))[Symbol.asyncDispose]()
    folders.add(place.full)
  }
  return {
    folders: [...folders],
    isExact,
    async [Symbol.asyncDispose]() {
      for (const folder of made.toReversed())
        await fs.rmdir(folder).catch((error: NodeJS.ErrnoException) => {
          if (!['ENOTEMPTY', 'ENOENT', 'ENOTDIR'].includes(error.code ?? '')) throw error
        })
    },
  }
}

function splitGlob(glob: string): { readonly prefix: string; readonly rest: string } {
  const parts = glob.split('/').filter((part) => part !== '' && part !== '.')
  const at = parts.findIndex((part) => /[*?[{]/.test(part))
  if (at === -1) return { prefix: parts.join('/'), rest: '' }
  return { prefix: parts.slice(0, at).join('/'), rest: parts.slice(at).join('/') }
}

const isFolder = (workspace: string, path: string): Promise<boolean> =>
  fs.stat(join(workspace, path)).then(
    (stat) => stat.isDirectory(),
    () => false,
  )

/** The folders on the way to a path that do not exist, the outermost first. */
async function missing(workspace: string, relative: string): Promise<readonly string[]> {
  const parts = relative.split('/').filter((part) => part !== '')
  const ways = parts.map((_part, i) => join(workspace, ...parts.slice(0, i + 1)))
  const there = await Promise.all(
    ways.map((way) =>
      fs.lstat(way).then(
        () => true,
        () => false,
      ),
    ),
  )
  return ways.filter((_way, i) => !there[i])
}
