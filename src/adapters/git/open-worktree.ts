import { readdir, rm } from 'node:fs/promises'
import { AppError } from '../../contract/errors.ts'
import type { Worktree } from '../../ports/workspace.ts'
import { findPlace } from '../system/place.ts'
import { type Machine, waitForGit } from './git-at-work.ts'
import { isThere } from './is-there.ts'
import { type ListedWorktree, listedWorktrees } from './listed-worktrees.ts'
import { ownGit } from './own-git.ts'
import { checkBranchName, commitOf, isWithin } from './refs.ts'
import { maybe } from './root-of.ts'

type Opening = Worktree & { readonly root: string }

/** Makes a work tree on a branch of its own, or takes up the one that is there. */
export async function openWorktree(opening: Opening, machine: Machine, signal: AbortSignal): Promise<void> {
  const { root, branch, base } = opening
  await checkBranchName(root, branch, signal)
  const tip = await commitOf(root, `refs/heads/${branch}`, signal)
  if (tip !== undefined && !(await isWithin(root, { commit: base, of: tip }, signal)))
    throw new AppError(
      'conflict',
      `there is a branch ${branch} already, which does not begin at ${base}; rename it or choose another name`,
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
      `${path} stands on ${mine.branch ?? 'no branch'} and not on ${branch}; check out ${branch} there`,
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
    throw new AppError('conflict', `${path} is there already and is no work tree of ours; move it away`)
  await rm(`${path}/.git`, { force: true })
}
