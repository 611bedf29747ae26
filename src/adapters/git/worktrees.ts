import { readdir, readlink, realpath, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AppError } from '../../contract/errors.ts'
import type { Branches } from '../../ports/branches.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Processes } from '../../ports/processes.ts'
import type { Workspace, Worktree } from '../../ports/workspace.ts'
import { findPlace } from '../system/place.ts'
import {
  checkBranchName,
  checkDrivers,
  commitOf,
  git,
  isOnBranch,
  isThere,
  isWithin,
  maybe,
  ownGit,
  placeOf,
} from './run-git.ts'
import { hasUnpushedModule, uncommittedIn } from './work-tree-files.ts'

/** Work trees of single sessions: each on a branch of its own, and gone only when nothing is lost with it. */
export const worktrees: Pick<Workspace, 'planWorktree' | 'addWorktree' | 'removeWorktree'> = {
  async planWorktree(folder, branch, signal) {
    const { root, commit, inside } = await placeOf(folder, signal)
    await checkBranchName(root, branch, signal)
    if ((await commitOf(root, `refs/heads/${branch}`, signal)) !== undefined)
      throw new AppError('conflict', `there is already a branch ${branch}; choose another name`)
    return { root, base: commit, inside }
  },
  async addWorktree(root, { path, branch, base }, signal) {
    await checkDrivers(root, base, signal)
    await git(root, ['worktree', 'add', '-q', '-b', branch, path, base], { signal })
  },
  async removeWorktree(worktree, signal) {
    const { path, branch } = worktree
    if (!(await isThere(path))) return true
    const store = await maybe(
      git(path, ['rev-parse', '--path-format=absolute', '--git-common-dir'], { signal }),
    )
    if (store === undefined || !(await isSaved(worktree, signal))) return false
    const inStore = { signal, env: { GIT_DIR: store } }
    // Not forced: what was written in the meantime makes git refuse.
    const isGone = await maybe(git(store, ['worktree', 'remove', path], inStore).then(() => 'gone'))
    if (isGone === undefined) return false
    await maybe(git(store, ['branch', '-D', branch], inStore))
    return true
  },
}

/** Whether all is committed, and what was committed is on another branch too. */
async function isSaved({ path, branch, base }: Worktree, signal: AbortSignal): Promise<boolean> {
  if ((await uncommittedIn(path, signal)).length > 0) return false
  const head = (await git(path, ['rev-parse', 'HEAD'], { signal })).trim()
  const own = await commitOf(path, `refs/heads/${branch}`, signal)
  // Its branch may be ahead of what is checked out.
  for (const commit of new Set([head, own ?? head])) {
    if (commit === base) continue
    if (!(await isOnBranch(path, { commit, except: branch }, signal))) return false
  }
  return true
}

type Opening = Worktree & { readonly root: string }

/** Makes a work tree on a branch of its own, or takes up the one that is there. */
export async function openWorktree(opening: Opening, machine: Machine, signal: AbortSignal): Promise<void> {
  const { root, branch, base } = opening
  await checkBranchName(root, branch, signal)
  const tip = await commitOf(root, `refs/heads/${branch}`, signal)
  if (tip !== undefined && !(await isWithin(root, { commit: base, of: tip }, signal)))
    throw new AppError(
      'conflict',
      `there is already a branch ${branch}, which does not start at ${base}; rename it or choose another name`,
    )
  const path = (await findPlace(root, opening.path)).full
  const listed = await listedWorktrees(root, signal)
  const holder = listed.find((one) => one.branch === branch && one.path !== path)
  if (holder !== undefined)
    throw new AppError('conflict', `${branch} is checked out in ${holder.path}; remove that work tree first`)
  const mine = listed.find((one) => one.path === path)
  if (mine?.isHalfMade) {
    await waitForGit(path, machine, signal)
    await forget(root, path, signal)
  } else if (mine !== undefined && (await isThere(path))) return takeUp({ ...opening, path }, mine, signal)
  else if (mine === undefined) await makeRoom(path)
  // A branch without its work tree is what a kill between the two leaves. Forced once: the folder may be registered and gone.
  const begin = tip === undefined ? ['-b', branch, path, base] : [path, branch]
  await checkDrivers(root, tip ?? base, signal)
  await ownGit(root, ['worktree', 'add', '-q', '-f', ...begin], signal)
}

/** Nothing was ever given to anybody in a work tree that git had not finished. */
async function forget(root: string, path: string, signal: AbortSignal): Promise<void> {
  await rm(path, { recursive: true, force: true })
  await ownGit(root, ['worktree', 'remove', '-f', '-f', path], signal)
}

async function takeUp(opening: Opening, mine: ListedWorktree, signal: AbortSignal): Promise<void> {
  const { root, path, branch } = opening
  if (mine.branch !== branch)
    throw new AppError(
      'conflict',
      `${path} is on ${mine.branch ?? 'no branch'}, not on ${branch}; check out ${branch} there`,
    )
  if (await isThere(`${path}/.git`)) return
  // It fails for others that are broken too; what counts is this one.
  await maybe(ownGit(root, ['worktree', 'repair'], signal))
  if (!(await isThere(`${path}/.git`)))
    throw new AppError('conflict', `${path} has lost its .git file; run git worktree repair in ${root}`)
}

/** What is not a work tree of this repository may be somebody's; only an empty shell goes. */
async function makeRoom(path: string): Promise<void> {
  if (!(await isThere(path))) return
  const content = await readdir(path).catch(() => ['a file'])
  if (content.some((name) => name !== '.git'))
    throw new AppError(
      'conflict',
      `${path} already exists and is not a work tree that Muster made; move it away`,
    )
  await rm(`${path}/.git`, { force: true })
}

type Closing = { readonly root: string; readonly path: string }

/** Removes the folder of a work tree and keeps its branch. */
export async function closeWorktree(closing: Closing, machine: Machine, signal: AbortSignal): Promise<void> {
  const { root } = closing
  const path = (await findPlace(root, closing.path)).full
  const listed = (await listedWorktrees(root, signal)).find((one) => one.path === path)
  // Set aside as a whole: of a folder that is half gone nobody could say any more whether it was all committed.
  const aside = `${path}.muster-closing`
  if (await isThere(path)) {
    if (listed?.isHalfMade) await waitForGit(path, machine, signal)
    else await checkSaved(path, machine, signal)
    await rm(aside, { recursive: true, force: true })
    await rename(path, aside)
  }
  if (listed !== undefined) await ownGit(root, ['worktree', 'remove', '-f', '-f', path], signal)
  await rm(aside, { recursive: true, force: true })
}

async function checkSaved(path: string, machine: Machine, signal: AbortSignal): Promise<void> {
  const tree = await ownTree(path, machine, signal)
  if ((await uncommittedIn(tree.path, signal)).length > 0)
    throw new AppError('conflict', `${path} has uncommitted files; commit or restore them first`)
  const head = (await commitOf(tree.path, 'HEAD', signal)) ?? ''
  if (!(await isOnBranch(tree.path, { commit: head }, signal)))
    throw new AppError(
      'conflict',
      `${path} is at ${head}, which is on no branch; create a branch there first`,
    )
  // The repositories of modules go with the work tree.
  if (!(await isThere(join(tree.gitFolder, 'modules')))) return
  if (await hasUnpushedModule(tree.path, signal))
    throw new AppError('conflict', `${path} has commits in a module that are on no remote; push them first`)
}

/** A work tree as git has it registered, whether or not its folder is there. */
type ListedWorktree = {
  readonly path: string
  /** Undefined when it is on no branch. */
  readonly branch: string | undefined
  /** Git was cut off while it made it. */
  readonly isHalfMade: boolean
}

/** All work trees of a repository. */
export async function listedWorktrees(root: string, signal: AbortSignal): Promise<readonly ListedWorktree[]> {
  const list = await git(root, ['worktree', 'list', '--porcelain'], { signal })
  return list
    .split('\n\n')
    .filter((block) => block !== '')
    .map((block) => {
      const lines = block.split('\n')
      const after = (word: string) =>
        lines.find((line) => line.startsWith(`${word} `))?.slice(word.length + 1)
      return {
        path: after('worktree') ?? '',
        branch: after('branch')?.replace(/^refs\/heads\//, ''),
        isHalfMade: after('locked') === 'initializing',
      }
    })
}

export const worktreesIn: Branches['worktreesIn'] = async (root, folder, signal) => {
  const { full } = await findPlace(root, folder)
  return (await listedWorktrees(root, signal)).filter(({ path }) => dirname(path) === full)
}

/** A work tree of ours that may be written to. */
export type OwnTree = {
  readonly path: string
  /** Where git keeps what belongs to this work tree alone. */
  readonly gitFolder: string
}

/** Finds a work tree of ours, with the locks removed that a killed git left in it. */
export async function ownTree(path: string, machine: Machine, signal: AbortSignal): Promise<OwnTree> {
  const asked = ['--show-toplevel', '--absolute-git-dir', '--git-common-dir']
  const answer = await maybe(git(path, ['rev-parse', '--path-format=absolute', ...asked], { signal }))
  const [root, gitFolder, store] = answer?.split('\n') ?? []
  // Without its .git file a folder would lead to the repository around it, and with that to the user's own files.
  if (root === undefined || gitFolder === undefined || gitFolder === store || root !== (await realpath(path)))
    throw new AppError('conflict', `${path} is not a separate work tree; open it again`)
  const branch = await maybe(git(path, ['symbolic-ref', '-q', 'HEAD'], { signal }))
  const locks = [join(gitFolder, 'index.lock'), join(gitFolder, 'HEAD.lock')]
  if (branch !== undefined) locks.push(join(store ?? '', `${branch}.lock`))
  for (const lock of locks) {
    if (!(await isThere(lock))) continue
    await waitForGit(root, machine, signal)
    await rm(lock, { force: true })
  }
  return { path: root, gitFolder }
}

/** What is needed to tell a git that works from one that was killed. */
export type Machine = {
  readonly processes: Pick<Processes, 'list'>
  readonly clock: Pick<Clock, 'monotonic' | 'sleep'>
}

const mostMs = 60_000
const betweenMs = 100

/** Waits until no git works in a folder: one that we started may outlive the daemon that did. */
async function waitForGit(path: string, { processes, clock }: Machine, signal: AbortSignal): Promise<void> {
  const until = clock.monotonic() + mostMs
  for (;;) {
    const pid = await gitIn(path, await processes.list(signal))
    if (pid === undefined) return
    if (clock.monotonic() >= until)
      throw new AppError(
        'timeout',
        `git (pid ${pid}) has been running in ${path} for too long; end it and try again`,
      )
    await clock.sleep(betweenMs, signal)
  }
}

async function gitIn(path: string, all: Awaited<ReturnType<Processes['list']>>): Promise<number | undefined> {
  for (const { pid, command } of all) {
    if (!/^(\S*\/)?git(-\S+)?( |$)/.test(command)) continue
    const folder = await readlink(`/proc/${pid}/cwd`).catch(() => '')
    if (`${command} `.includes(` ${path} `) || `${folder}/`.startsWith(`${path}/`)) return pid
  }
  return undefined
}
