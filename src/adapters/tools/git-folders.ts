import { promises as fs } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { namesIn, noEntries, noFile } from '../system/foreign-files.ts'
import type { Layer } from '../system/shell-sandbox.ts'

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
  // The main work tree has a place and an index of its own.
  const outer = await opened(dirname(dirname(own)), [...settings, 'HEAD', 'index'])
  const inner = await opened(own, settings)
  return {
    layers: [...outer.layers, ...inner.layers],
    mustNotAppear: [...outer.mustNotAppear, ...inner.mustNotAppear],
  }
}

/** Few, for others work in a repository at the same time: what they make must not be taken for the agent's. */
const neverNew = ['commondir', 'config.worktree']

async function opened(folder: string, closed: readonly string[]): Promise<GitFolders> {
  // Only what is there can be closed.
  await fs.mkdir(join(folder, 'hooks'), { recursive: true })
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

/** A repository as a whole; modules and other work trees have settings of their own. */
async function openedWhole(folder: string): Promise<GitFolders> {
  const whole = await opened(folder, programs)
  const closed: Layer[] = []
  for (const inner of await foldersWithSettings(folder, mostDeep))
    for (const name of programs.filter((one) => one !== 'commondir')) {
      const path = join(inner, name)
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
export async function takeAwayStrays({ mustNotAppear }: GitFolders): Promise<readonly string[]> {
  const found: string[] = []
  for (const path of mustNotAppear) {
    if ((await fs.lstat(path).catch(noFile)) === undefined) continue
    await fs.rm(path, { recursive: true, force: true })
    found.push(path)
  }
  return found
}
