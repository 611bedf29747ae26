import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../contract/errors.ts'
import type { Branches } from '../../ports/branches.ts'
import { replaceFile } from '../system/durable-files.ts'
import {
  author,
  checkDrivers,
  commitOf,
  commitToUse,
  git,
  isOnBranch,
  isThere,
  isWithin,
  maybe,
  nulWords,
  ownGit,
  ownOptions,
} from './run-git.ts'
import { commitOfTree } from './tree-diff.ts'
import { stageFiles } from './work-tree-files.ts'
import { listedWorktrees } from './worktrees.ts'

/** Brings a finished branch into a branch of the user's, when nothing is lost and nothing conflicts. */
export const landBranch: Branches['land'] = async (root, { branch, into }, signal) => {
  const from = await commitOf(root, `refs/heads/${into}`, signal)
  if (from === undefined)
    throw new AppError('not_found', `there is no branch ${into}; name one that git branch lists`)
  const tip = await commitToUse(root, branch, signal)
  if (await isWithin(root, { commit: tip, of: from }, signal)) return from
  await checkDrivers(root, tip, signal)
  const isAhead = await isWithin(root, { commit: from, of: tip }, signal)
  const to = isAhead ? tip : await mergeOf(root, { branch, into, from, tip }, signal)
  const holder = (await listedWorktrees(root, signal)).find((one) => one.branch === into)
  if (holder === undefined) {
    // Only from the commit that was looked at: what was committed meanwhile must not be lost.
    await ownGit(root, ['update-ref', '-m', `land ${branch}`, `refs/heads/${into}`, to, from], signal)
    return to
  }
  if (!(await isThere(holder.path)))
    throw new AppError(
      'conflict',
      `${into} is checked out in ${holder.path}, which is gone; run git worktree prune and try again`,
    )
  await updateCheckout(holder.path, { into, from, to }, signal)
  return to
}

type Sides = { readonly branch: string; readonly into: string; readonly from: string; readonly tip: string }

/** A merge that touches no work tree, so that a refusal leaves nothing behind. */
async function mergeOf(
  root: string,
  { branch, into, from, tip }: Sides,
  signal: AbortSignal,
): Promise<string> {
  const merge = ['merge-tree', '--write-tree', '--name-only', '--no-messages', '-z', from, tip]
  const answer = await ownGit(root, merge, signal).catch((error: unknown) => {
    const { code, stdout } = ((error as AppError).cause ?? {}) as { code?: unknown; stdout?: string }
    if (code !== 1 || stdout === undefined) throw error
    return stdout
  })
  const [tree = '', ...conflicts] = nulWords(answer)
  if (conflicts.length > 0)
    throw new AppError(
      'conflict',
      `${into} and ${branch} change the same lines of ${conflicts.join(', ')}; merge ${into} into ${branch}, resolve it there and land it again`,
      { details: { files: conflicts } },
    )
  // The dates of what it is made of: made again it is the same commit.
  const date = (await git(root, ['show', '-s', '--format=%cI', tip], { signal })).trim()
  const made = git(root, ['commit-tree', tree, '-p', from, '-p', tip, '-m', `Merge ${branch} into ${into}`], {
    signal,
    env: { ...author, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date },
  })
  return (await made).trim()
}

type Step = { readonly into: string; readonly from: string; readonly to: string }

/** Moves a branch forward where the user has it checked out; refused when something of theirs is in the way. */
async function updateCheckout(path: string, step: Step, signal: AbortSignal): Promise<void> {
  const { into, to } = step
  const lock = await ownPath(path, 'index.lock', signal)
  if (await isThere(lock))
    throw new AppError(
      'conflict',
      `git is running in ${path}, or was killed there; if no git is running, delete ${lock} and try again`,
    )
  const note = await ownPath(path, 'muster-land', signal)
  await undoHalfLanding(path, { ...step, note }, signal)
  const { written, theirs } = await changesIn(path, step, signal)
  if (theirs.length > 0)
    throw new AppError(
      'conflict',
      `${path} has changes in ${theirs.join(', ')} that are not committed; commit or stash them and land it again`,
      { details: { files: theirs } },
    )
  await replaceFile(note, noteOf(step))
  // Cut off before, git had already written some of these files: they are what they are to become.
  if (written.length > 0) await stageFiles(path, { ...ownOptions(signal), only: written })
  const merge = ['merge', '-q', '--ff-only', '--no-squash', '--no-verify', '--no-overwrite-ignore', to]
  await ownGit(path, merge, signal).catch(async (cause: unknown) => {
    if (!(cause instanceof AppError) || cause.code !== 'failed' || wasKilled(cause)) throw cause
    await rm(note, { force: true })
    throw new AppError(
      'conflict',
      `${into} could not be moved in ${path} (${cause.message}); clear the way and land it again`,
      { cause },
    )
  })
  await rm(note, { force: true })
}

const wasKilled = ({ cause }: AppError): boolean => typeof (cause as { signal?: unknown }).signal === 'string'

const noteOf = ({ from, to }: Step): string => `${from} ${to}`

async function ownPath(path: string, name: string, signal: AbortSignal): Promise<string> {
  const found = await git(path, ['rev-parse', '--path-format=absolute', '--git-path', name], { signal })
  return found.replace(/\n$/, '')
}

/** What is already as it is to become, and what is the user's. */
async function changesIn(
  path: string,
  { from, to }: Step,
  signal: AbortSignal,
): Promise<{ readonly written: readonly string[]; readonly theirs: readonly string[] }> {
  const changed = await named(path, ['diff', '--name-only', '--no-renames', '-z', from], signal)
  const made = await named(path, ['ls-files', '-o', '--exclude-standard', '-z'], signal)
  const coming = new Set(await between(path, [from, to], signal))
  // Files that git does not know stay where they are, unless they are in the way.
  const written = [...changed, ...made.filter((file) => coming.has(file))]
  const other = new Set(await between(path, [await commitOfTree(path, undefined, signal), to], signal))
  return { written, theirs: written.filter((file) => other.has(file)) }
}

/** A git that was killed leaves the file that it wrote missing or cut short; nothing of the user's is in such a one. */
async function undoHalfLanding(
  path: string,
  step: Step & { readonly note: string },
  signal: AbortSignal,
): Promise<void> {
  const noted = await readFile(step.note, 'utf8').catch(() => undefined)
  if (noted !== noteOf(step)) return
  const coming = new Set(await between(path, [step.from, step.to], signal))
  for (const file of (await changesIn(path, step, signal)).theirs) {
    if (!coming.has(file) || !(await isCutShort(path, { file, to: step.to }, signal))) continue
    await rm(join(path, file), { force: true })
    await maybe(ownGit(path, ['checkout', '-q', step.from, '--', file], signal))
  }
}

async function isCutShort(
  path: string,
  { file, to }: { readonly file: string; readonly to: string },
  signal: AbortSignal,
): Promise<boolean> {
  if (!(await isThere(join(path, file)))) return true
  const asked = ['cat-file', '--filters', `${to}:${file}`]
  const whole = await git(path, asked, { signal, encoding: 'latin1' }).catch(() => '')
  return whole !== '' && whole.startsWith(await readFile(join(path, file), 'latin1'))
}

const between = (path: string, [from, to]: readonly [string, string], signal: AbortSignal) =>
  named(path, ['diff', '--name-only', '--no-renames', '-z', from, to], signal)

async function named(path: string, args: readonly string[], signal: AbortSignal): Promise<readonly string[]> {
  return nulWords(await ownGit(path, args, signal))
}

/** Deletes a branch whose commits another one has. */
export const dropBranch: Branches['dropBranch'] = async (root, branch, signal) => {
  const commit = await commitOf(root, `refs/heads/${branch}`, signal)
  if (commit === undefined) return true
  if (!(await isOnBranch(root, { commit, except: branch }, signal))) return false
  if ((await listedWorktrees(root, signal)).some((one) => one.branch === branch)) return false
  await ownGit(root, ['branch', '-q', '-D', '--', branch], signal)
  return true
}
