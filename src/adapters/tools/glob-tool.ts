import { promises as fs, lstatSync, type Stats } from 'node:fs'
import { join, relative } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import * as z from 'zod'
import { AppError } from '../../contract/errors.ts'
import { nothingFound, type Tool } from '../../ports/tools.ts'
import { defineTool } from '../system/define-tool.ts'
import { noEntries } from '../system/foreign-files.ts'
import { harmlessGit } from '../system/harmless-git.ts'
import { type Place, placeInside } from '../system/place.ts'
import { askProgram } from '../system/run-program.ts'
import { streamProgram } from './stream-program.ts'
import { FilePath, type MatchesGlob } from './workspace-access.ts'

const mostShown = 200

const Input = z.strictObject({
  pattern: z.string().min(1).max(500).describe('A glob such as **/*.ts, src/**/*.{js,jsx} or README*'),
  path: FilePath.optional().describe('The folder to look in; the project when left out'),
})

type Parts = { readonly matchesGlob: MatchesGlob; readonly env: Readonly<Record<string, string>> }

export const globTool = ({ matchesGlob, env }: Parts): Tool =>
  defineTool({
    name: 'Glob',
    description: [
      'Finds files by their names, the newest first.',
      '* and ? stay inside a folder, ** crosses folders, {a,b} is a choice; a pattern without a slash is looked for in every folder.',
      `Files that git ignores are left out unless path names an ignored folder. It shows ${mostShown} files at most.`,
    ].join(' '),
    category: 'perception',
    input: Input,
    async run({ pattern, path = '.' }, { workspace, signal }) {
      const base = await placeInside(workspace, path)
      await mustExist(base, path)
      const below = pattern.startsWith(`${base.full}/`) ? pattern.slice(base.full.length + 1) : pattern
      const { files, isCut } = await listFiles(base, { wants: globPattern(below, matchesGlob), env, signal })
      if (files.length === 0) return { text: nothingFound.files, isError: false }
      const newest = files.toSorted((a, b) => b.mtimeMs - a.mtimeMs || (a.path < b.path ? -1 : 1))
      const text = newest.slice(0, mostShown).map((file) => file.path)
      if (files.length <= mostShown && !isCut) return { text: text.join('\n'), isError: false }
      const note = `[${mostShown} of ${files.length}${isCut ? ' or more' : ''} files; use a narrower pattern or path]`
      return { text: [...text, note].join('\n'), isError: false, isTruncated: true }
    },
  })

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

/** Nothing where git has nothing to say: no repository, no git, or a folder that is ignored as a whole. */
async function gitPaths(folder: string, { env, signal }: Listing) {
  const asking = { signal, env: harmlessGit(env) }
  const ignored = await askProgram('git', ['-C', folder, 'check-ignore', '-q', '.'], asking)
  if (ignored?.code !== 1) return undefined
  const args = ['ls-files', '-co', '--exclude-standard', '--deduplicate', '-z']
  return streamProgram('git', args, { ...asking, folder, separator: '\0' })
}

/** Never of interest unless they are asked for. */
const passedOver = new Set(['.git', '.hg', '.svn', 'node_modules'])

async function* walk(root: string): AsyncGenerator<readonly string[]> {
  const folders = ['']
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const at = folder
    const entries = await fs.readdir(join(root, at), { withFileTypes: true }).catch(noEntries)
    const names = entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))
    yield names.filter((entry) => entry.isFile()).map((entry) => join(at, entry.name))
    for (const entry of names.toReversed())
      if (entry.isDirectory() && !passedOver.has(entry.name)) folders.push(join(at, entry.name))
  }
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

const mostStars = 3
const mostWide = 4

/**
 * A glob of a model, as a question to paths below a folder. One without a slash names files at any depth. Those that
 * would take long to compare are refused.
 */
export function globPattern(glob: string, matchesGlob: MatchesGlob): (path: string) => boolean {
  const wide = glob.split('**').length - 1
  const stars = Math.max(...glob.split('/').map((part) => part.replaceAll('**', '').split('*').length - 1))
  if (wide > mostWide || stars > mostStars)
    throw new AppError(
      'invalid',
      `${glob} has too many stars; use at most ${mostWide} times ** and ${mostStars} stars between two slashes`,
    )
  if (glob.startsWith('/') || glob.split('/').includes('..'))
    throw new AppError(
      'invalid',
      `${glob} leaves the folder; name the folder in path and keep the pattern below it`,
    )
  const whole = glob.includes('/') ? glob : `**/${glob}`
  return (path) => matchesGlob(path, whole)
}
