import { lstat, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../contract/errors.ts'
import type { Merge, Merged } from '../../ports/branches.ts'
import { replaceFile } from '../system/durable-files.ts'
import {
  author,
  checkDrivers,
  commitOf,
  commitToUse,
  isWithin,
  maybe,
  nulWords,
  ownGit,
  ownOptions,
} from './run-git.ts'
import { stageFiles, uncommittedIn } from './work-tree-files.ts'
import type { OwnTree } from './worktrees.ts'

/** Merges a branch into that of the work tree; conflicts stay there for somebody to resolve. */
export async function mergeBranch(tree: OwnTree, merge: Merge, signal: AbortSignal): Promise<Merged> {
  const { path } = tree
  const target = await commitToUse(path, merge.branch, signal)
  await undoHalfMerge(tree, signal)
  const pending = await commitOf(path, 'MERGE_HEAD', signal)
  const head = (await commitOf(path, 'HEAD', signal)) ?? ''
  if (pending === target) return concludeMerge(tree, merge, signal)
  if (pending !== undefined)
    throw new AppError('conflict', `another merge is in progress in ${path}; finish or abort it first`)
  if (await isWithin(path, { commit: target, of: head }, signal)) return { merged: head }
  await checkDrivers(path, target, signal)
  if ((await uncommittedIn(path, signal)).length > 0)
    throw new AppError('conflict', `${path} has uncommitted files; commit or restore them first`)
  await replaceFile(beginning(tree), head)
  const conflicts = await tryMerge(tree, { ...merge, target }, signal)
  await rm(beginning(tree), { force: true })
  if (conflicts !== undefined) return { conflicts }
  return { merged: (await ownGit(path, ['rev-parse', 'HEAD'], signal)).trim() }
}

/** Puts the work tree back to its branch, with all that was done about a merge lost. */
export async function abandonMerge(tree: OwnTree, signal: AbortSignal): Promise<void> {
  await undoHalfMerge(tree, signal)
  if ((await commitOf(tree.path, 'MERGE_HEAD', signal)) !== undefined) await backToHead(tree, signal)
}

/** Git writes the files of a merge before it notes that it merges: a kill in between leaves files of nobody's. */
async function undoHalfMerge(tree: OwnTree, signal: AbortSignal): Promise<void> {
  const begun = await readFile(beginning(tree), 'utf8').catch(() => undefined)
  if (begun === undefined) return
  const isHalf =
    begun === (await commitOf(tree.path, 'HEAD', signal)) &&
    (await commitOf(tree.path, 'MERGE_HEAD', signal)) === undefined
  // All was committed when it began, so nothing but the merge is lost.
  if (isHalf) await backToHead(tree, signal)
  await rm(beginning(tree), { force: true })
}

async function backToHead({ path }: OwnTree, signal: AbortSignal): Promise<void> {
  await ownGit(path, ['reset', '-q', '--hard', 'HEAD'], signal)
  await ownGit(path, ['clean', '-f', '-d', '-q'], signal)
}

async function tryMerge(
  tree: OwnTree,
  { branch, target, message }: Merge & { readonly target: string },
  signal: AbortSignal,
): Promise<readonly string[] | undefined> {
  const { path } = tree
  // Conflict markers name what was merged: a branch where that says the same as the commit.
  const name = (await commitOf(path, branch, signal)) === target ? branch : target
  try {
    const plain = ['--no-ff', '--no-edit', '--no-verify', '--no-squash', '--commit', '-q']
    await ownGit(path, ['merge', ...plain, '-m', message, name], signal)
    return undefined
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'failed') throw error
    if ((await commitOf(path, 'MERGE_HEAD', signal)) !== undefined) return unmergedIn(path, signal)
    await undoHalfMerge(tree, signal)
    throw error
  }
}

const beginning = ({ gitFolder }: OwnTree): string => join(gitFolder, 'muster-merge')

/** Commits a merge of which nothing is left to resolve; else answers what is left. */
export async function concludeMerge(
  tree: OwnTree,
  { branch, message }: Merge,
  signal: AbortSignal,
): Promise<Merged> {
  const { path } = tree
  const target = await commitToUse(path, branch, signal)
  const isPending = (await commitOf(path, 'MERGE_HEAD', signal)) === target
  const head = (await commitOf(path, 'HEAD', signal)) ?? ''
  const isIn = await isWithin(path, { commit: target, of: head }, signal)
  if (!isPending && !isIn)
    throw new AppError('conflict', `no merge of ${branch} is in progress in ${path}; merge it again`)
  const conflicts = await unresolvedIn(path, { target, branch }, signal)
  if (conflicts.length > 0) return { conflicts }
  // Cut off after the commit, or committed by who resolved it: the note of the merge, or files, may be left.
  if (isIn) {
    if (isPending) await ownGit(path, ['merge', '--quit'], signal)
    return { merged: (await commitAll(tree, message, signal)) ?? head }
  }
  await stageFiles(path, ownOptions(signal))
  return { merged: await commitIndex(path, message, signal) }
}

/** Paths of which the index has more than one version. */
async function unmergedIn(path: string, signal: AbortSignal): Promise<readonly string[]> {
  const entries = nulWords(await ownGit(path, ['ls-files', '-u', '-z'], signal))
  return [...new Set(entries.map((entry) => entry.slice(entry.indexOf('\t') + 1)))]
}

/** What of a merge nobody has resolved yet, by the files as they are: not everybody tells git what is resolved. */
async function unresolvedIn(
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

/** Commits all that is not ignored; the same words again, with nothing new, answer the commit that they made. */
export async function commitAll(
  { path }: OwnTree,
  message: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  if ((await commitOf(path, 'MERGE_HEAD', signal)) !== undefined)
    throw new AppError('conflict', `a merge is in progress in ${path}; finish or abort it first`)
  if ((await maybe(ownGit(path, ['symbolic-ref', '-q', 'HEAD'], signal))) === undefined)
    throw new AppError('conflict', `${path} is on no branch; check out the one it was opened with`)
  await stageFiles(path, ownOptions(signal))
  const tree = await ownGit(path, ['write-tree'], signal)
  if (tree === (await ownGit(path, ['rev-parse', 'HEAD^{tree}'], signal))) {
    // Cut off after the commit: only the words tell that it was this one.
    const last = await ownGit(path, ['log', '-1', '--format=%ce%n%B'], signal)
    const isOurs = last.trimEnd() === `${author.GIT_COMMITTER_EMAIL}\n${message.trimEnd()}`
    return isOurs ? commitOf(path, 'HEAD', signal) : undefined
  }
  return commitIndex(path, message, signal)
}

/** Commits what the index has, also as the end of a merge. */
async function commitIndex(path: string, message: string, signal: AbortSignal): Promise<string> {
  await ownGit(path, ['commit', '-q', '--no-verify', '--cleanup=verbatim', '-m', message], signal)
  return (await ownGit(path, ['rev-parse', 'HEAD'], signal)).trim()
}
