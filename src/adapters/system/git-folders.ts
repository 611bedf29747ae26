import { promises as fs } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { namesIn, noEntries, noFile } from './foreign-files.ts'
import type { Layer } from './shell-sandbox.ts'

/** What of a repository git writes when something is committed, and what it must not. */
export type GitFolders = {
  readonly layers: readonly Layer[]
  /** Full paths of what is not there and must not come to be. */
  readonly mustNotAppear: readonly string[]
}

/** Settings and hooks are programs that run later and outside of any gate; by the others git finds those. */
const settings = ['config', 'config.worktree', 'hooks', 'info', 'commondir', 'gitdir', 'modules', 'worktrees']

const none: GitFolders = { layers: [], mustNotAppear: [] }

/** Whether a path below the workspace is one that git writes when something is committed. */
export function isOfGit(path: string): boolean {
  const [first, second] = path.split('/')
  return first === '.git' && second !== undefined && !settings.includes(second)
}

/** Whoever may change all of a workspace has modules and work trees in it too; only what runs later stays closed. */
const programs = ['config', 'config.worktree', 'hooks', 'commondir']

/** The folders that have to be open for a commit in a workspace; of a linked work tree they lie outside of it. */
export async function gitFolders(workspace: string, mayChangeAll: boolean): Promise<GitFolders> {
  const path = join(workspace, '.git')
  const stat = await fs.lstat(path).catch(noFile)
  if (stat?.isDirectory()) return mayChangeAll ? openedWhole(path) : opened(path, settings)
  const own = stat?.isFile() ? await linkedFolder(workspace, path) : undefined
  if (own === undefined) return none
  const { layers, mustNotAppear } = await openedLinked(own)
  // Another link would lead to settings that an agent wrote.
  return { layers: [...layers, { path, isOpen: false }], mustNotAppear }
}

/** A repository for one of its linked work trees: the main work tree has a place and an index of its own. */
async function openedLinked(own: string): Promise<GitFolders> {
  const outer = await opened(dirname(dirname(own)), [...settings, 'HEAD', 'index'])
  const inner = await opened(own, settings)
  return {
    layers: [...outer.layers, ...inner.layers],
    mustNotAppear: [...outer.mustNotAppear, ...inner.mustNotAppear],
  }
}

/** So far below a folder that may be written its repositories are looked for, and among so many folders. */
const mostFoldersDeep = 3
const mostFolders = 5000
const mostRepositories = 200
/** An agent may have made any number of them; those nearest to the top come first. */
const mostLayers = 2000

/**
 * What stays closed of all that a session may write, over what is open: the settings and hooks of every repository that
 * is there, and the links of work trees. `linked` is the folder that its own work tree has in a repository, of which the
 * rest stays closed.
 */
export async function gitClosedIn(
  writable: readonly string[],
  linked: string | undefined,
): Promise<readonly Layer[]> {
  const repository = linked && dirname(dirname(linked))
  const layers: Layer[] = []
  for (const folder of writable) {
    if (linked !== undefined && folder === repository) {
      await fillWorktreeSettings(repository)
      layers.push(...(await openedLinked(linked)).layers)
    } else for (const path of await gitPlaces(folder)) layers.push(...(await closedAt(path)))
  }
  const isLink = await Promise.all(
    layers.map(async ({ path }) => (await fs.lstat(path).catch(noFile))?.isSymbolicLink() !== false),
  )
  return layers.filter((_, i) => !isLink[i]).slice(0, mostLayers)
}

async function closedAt(path: string): Promise<readonly Layer[]> {
  const stat = await fs.lstat(path).catch(noFile)
  if (stat?.isFile()) return [{ path, isOpen: false }]
  if (!stat?.isDirectory() || !(await isRepository(path))) return []
  await fillWorktreeSettings(path)
  // Other work trees are others'; what it makes itself it can also remove.
  return (await openedWhole(path, [...programs, 'gitdir'])).layers
}

/** Nobody can write a file that is closed; where git reads one that is not there yet, an empty one says the same. */
async function fillWorktreeSettings(repository: string): Promise<void> {
  const config = await fs.readFile(join(repository, 'config'), 'utf8').catch(noFile)
  if (!/worktreeconfig/i.test(config ?? '')) return
  const trees = join(repository, 'worktrees')
  for (const folder of [repository, ...(await namesIn(trees)).map((name) => join(trees, name))])
    await fs.appendFile(join(folder, 'config.worktree'), '').catch(notOurs)
}

/** By a file of this name git would read its settings elsewhere; in the main folder of a repository there is none. */
export async function gitRedirects(writable: readonly string[]): Promise<readonly string[]> {
  const places = (await Promise.all(writable.map(gitPlaces))).flat()
  const folders = await Promise.all(
    places.map(async (path) => (await fs.lstat(path).catch(noFile))?.isDirectory() === true),
  )
  return places.filter((_, i) => folders[i]).map((path) => join(path, 'commondir'))
}

const isRepository = async (folder: string): Promise<boolean> =>
  (await fs.lstat(join(folder, 'HEAD')).catch(noFile)) !== undefined &&
  (await fs.stat(join(folder, 'objects')).catch(noFile))?.isDirectory() === true

/** The repository that a folder is, or the `.git` of it and of those below. */
async function gitPlaces(folder: string): Promise<readonly string[]> {
  if (await isRepository(folder)) return [folder]
  const found: string[] = []
  let left = mostFolders
  let level = [folder]
  for (let deep = 0; deep <= mostFoldersDeep && level.length > 0; deep++) {
    const next: string[] = []
    for (const at of level) {
      if (left-- === 0 || found.length >= mostRepositories) return found
      for (const entry of await fs.readdir(at, { withFileTypes: true }).catch(noEntries))
        if (entry.name === '.git') found.push(join(at, entry.name))
        else if (entry.isDirectory() && entry.name !== 'node_modules') next.push(join(at, entry.name))
    }
    level = next
  }
  return found
}

/** Few, for others work in a repository at the same time: what they make must not be taken for the agent's. */
const neverNew = ['commondir', 'config.worktree']

async function opened(folder: string, closed: readonly string[]): Promise<GitFolders> {
  // Only what is there can be closed.
  await fs.mkdir(join(folder, 'hooks'), { recursive: true }).catch(notOurs)
  const isThere = new Set<string>()
  for (const name of closed) if (await fs.lstat(join(folder, name)).catch(noFile)) isThere.add(name)
  return {
    layers: [
      { path: folder, isOpen: true },
      ...[...isThere].map((name) => ({ path: join(folder, name), isOpen: false })),
    ],
    mustNotAppear: neverNew.filter((name) => !isThere.has(name)).map((name) => join(folder, name)),
  }
}

/** What this user may not write, an agent of theirs may not either. */
function notOurs(error: NodeJS.ErrnoException): undefined {
  if (!['EACCES', 'EPERM', 'EROFS'].includes(error.code ?? '')) throw error
}

/** Of modules and work trees, which have settings of their own; a work tree that loses this file cannot be removed. */
const ofInner = programs.filter((name) => name !== 'commondir')

/** A repository as a whole, and what stays closed of the modules and other work trees in it. */
async function openedWhole(folder: string, inner: readonly string[] = ofInner): Promise<GitFolders> {
  const whole = await opened(folder, programs)
  const closed: Layer[] = []
  for (const at of await foldersWithSettings(folder, mostDeep))
    for (const name of inner) {
      const path = join(at, name)
      if (await fs.lstat(path).catch(noFile)) closed.push({ path, isOpen: false })
    }
  return { ...whole, layers: [...whole.layers, ...closed] }
}

/** A module may have modules, and its name may be a path. */
const mostDeep = 8

async function foldersWithSettings(folder: string, deep: number): Promise<readonly string[]> {
  const found: string[] = []
  const trees = join(folder, 'worktrees')
  for (const name of await namesIn(trees)) found.push(join(trees, name))
  const modules = async (at: string, left: number): Promise<void> => {
    for (const entry of left > 0 ? await fs.readdir(at, { withFileTypes: true }).catch(noEntries) : []) {
      if (!entry.isDirectory()) continue
      const path = join(at, entry.name)
      if ((await fs.lstat(join(path, 'HEAD')).catch(noFile)) === undefined) await modules(path, left - 1)
      else found.push(path, ...(await foldersWithSettings(path, left - 1)))
    }
  }
  await modules(join(folder, 'modules'), deep)
  return found
}

/**
 * The folder that a linked work tree has in its repository. An agent may have written the link itself: only a folder
 * outside of the workspace that names this very workspace is taken, and a repository only by where that folder lies.
 */
async function linkedFolder(workspace: string, link: string): Promise<string | undefined> {
  const [, named] = /^gitdir: (.+)$/m.exec(await fs.readFile(link, 'utf8')) ?? []
  const own = named && (await fs.realpath(resolve(workspace, named)).catch(noFile))
  if (!own || `${own}/`.startsWith(`${workspace}/`) || basename(dirname(own)) !== 'worktrees')
    return undefined
  const back = await fs.readFile(join(own, 'gitdir'), 'utf8').catch(noFile)
  const isOurs = back !== undefined && (await fs.realpath(back.trim()).catch(noFile)) === link
  const objects = await fs.stat(join(dirname(dirname(own)), 'objects')).catch(noFile)
  return isOurs && objects?.isDirectory() ? own : undefined
}

/** Takes away what must not have appeared, and answers it. */
export async function takeAway(mustNotAppear: readonly string[]): Promise<readonly string[]> {
  const found: string[] = []
  for (const path of mustNotAppear) {
    if ((await fs.lstat(path).catch(noFile)) === undefined) continue
    await fs.rm(path, { recursive: true, force: true })
    found.push(path)
  }
  return found
}
