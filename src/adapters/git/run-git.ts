import { execFile } from 'node:child_process'
import { promises as fs } from 'node:fs'
import { promisify } from 'node:util'
import { AppError } from '../../contract/errors.ts'
import type { Branches } from '../../ports/branches.ts'

const run = promisify(execFile)
const mostBytes = 64 << 20

/** Runs git in a folder; a failure says what git said. */
export async function git(folder: string, args: readonly string[], options: Options): Promise<string> {
  try {
    const { stdout } = await run('git', ['-C', folder, ...(options.settings ?? []), ...args], {
      maxBuffer: mostBytes,
      encoding: options.encoding ?? 'utf8',
      signal: options.signal,
      // What a person's shell or a hook says of another repository must not lead it astray.
      env: { ...withoutGit(process.env), GIT_OPTIONAL_LOCKS: '0', LC_ALL: 'C', ...options.env },
    })
    return stdout
  } catch (cause) {
    if (options.signal.aborted) throw cause
    const { code, stderr } = cause as { code?: string | number; stderr?: string }
    if (code === 'ENOENT') throw new AppError('unavailable', 'git is not installed', { cause })
    const lines = (stderr ?? '').trim().split('\n')
    const said = lines.find((line) => /^(fatal|error):/.test(line)) ?? lines[0] ?? ''
    throw new AppError('failed', `git ${args[0]} failed in ${folder}: ${said || String(cause)}`, {
      cause,
      details: { isDistrusted: isDistrusted(stderr ?? '') } satisfies GitFailure,
    })
  }
}

/** Git has one exit code for every fatal end: only what it prints, in the C locale, names a repository it does not trust. */
const isDistrusted = (stderr: string): boolean => /^fatal: detected dubious ownership /m.test(stderr)

/** What is known of a failure of git beyond its words. */
export type GitFailure = { readonly isDistrusted: boolean }

type Options = {
  readonly signal: AbortSignal
  readonly env?: Readonly<Record<string, string>>
  /** Latin1 keeps every byte of a file apart. */
  readonly encoding?: 'utf8' | 'latin1'
  /** Options of git itself, before the command. */
  readonly settings?: readonly string[]
}

const withoutGit = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('GIT_')))

/** Runs git on what is ours: nothing in the settings of the user may ask, sign, run, fetch or refuse. */
export const ownGit = (folder: string, args: readonly string[], signal: AbortSignal): Promise<string> =>
  git(folder, args, { signal, settings, env })

const settings = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.safecrlf=false',
  'commit.gpgSign=false',
  'merge.verifySignatures=false',
  'merge.autoStash=false',
  'merge.log=false',
  'rerere.enabled=false',
  'submodule.recurse=false',
  // A repack in the background would outlive the step.
  'gc.auto=0',
  'maintenance.auto=false',
].flatMap((setting) => ['-c', setting])

/** Whose commits ours are; so that they can be made where no user.name is set. */
export const author = {
  GIT_AUTHOR_NAME: 'Muster',
  GIT_AUTHOR_EMAIL: 'muster@localhost',
  GIT_COMMITTER_NAME: 'Muster',
  GIT_COMMITTER_EMAIL: 'muster@localhost',
} as const

const env = { ...author, GIT_EDITOR: 'true', GIT_TERMINAL_PROMPT: '0', GIT_LITERAL_PATHSPECS: '1' }

/** The root of the work tree that a folder is in; undefined outside of any. */
export const rootOf = (folder: string, signal: AbortSignal): Promise<string | undefined> =>
  maybe(git(folder, ['rev-parse', '--show-toplevel'], { signal }))

/** What git answers with a failure when there is none. */
export async function maybe(answer: Promise<string>): Promise<string | undefined> {
  try {
    return (await answer).trim() || undefined
  } catch (error) {
    if (error instanceof AppError && error.code === 'failed') return undefined
    throw error
  }
}

/** Where a folder stands, and whether all of its repository's work tree is committed. */
export const headOf: Branches['head'] = async (folder, signal) => {
  const place = await placeOf(folder, signal)
  const branch = await maybe(git(place.root, ['symbolic-ref', '--short', '-q', 'HEAD'], { signal }))
  const changed = await git(place.root, ['status', '--porcelain', '--untracked-files=normal'], { signal })
  return { ...place, branch: branch ?? null, isClean: changed === '' }
}

/** The repository of a folder, the commit that is checked out, and where the folder is below the root. */
export async function placeOf(
  folder: string,
  signal: AbortSignal,
): Promise<{ readonly root: string; readonly commit: string; readonly inside: string }> {
  const root = await rootOrRefusal(folder, signal)
  const commit = await maybe(git(root, ['rev-parse', '--verify', '-q', 'HEAD'], { signal }))
  if (commit === undefined) throw new AppError('conflict', `${root} has no commit yet; make one first`)
  const inside = await git(folder, ['rev-parse', '--show-prefix'], { signal })
  return { root, commit, inside: inside.replace(/\/?\n$/, '') }
}

async function rootOrRefusal(folder: string, signal: AbortSignal): Promise<string> {
  try {
    return (await git(folder, ['rev-parse', '--show-toplevel'], { signal })).replace(/\n$/, '')
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'failed') throw error
    // A repository of another user: git itself says how to trust it.
    if ((error.details as GitFailure | undefined)?.isDistrusted)
      throw new AppError(
        'denied',
        `${folder} is in a repository of another user, which git does not trust; if you do, run: git config --global --add safe.directory <its root>`,
        { cause: error },
      )
    throw new AppError('conflict', `${folder} is not in a git work tree; run git init there or go to one`, {
      cause: error,
    })
  }
}

/** The commit of a ref or any other name of one; undefined when there is none. */
export const commitOf = (folder: string, name: string, signal: AbortSignal): Promise<string | undefined> =>
  maybe(git(folder, ['rev-parse', '--verify', '-q', '--end-of-options', `${name}^{commit}`], { signal }))

/** The commit of a branch, or of what is no branch but names a commit; refused when there is none. */
export async function commitToUse(folder: string, name: string, signal: AbortSignal): Promise<string> {
  const commit =
    (await commitOf(folder, `refs/heads/${name}`, signal)) ?? (await commitOf(folder, name, signal))
  if (commit === undefined)
    throw new AppError(
      'not_found',
      `${folder} has no branch or commit ${name}; git branch lists the branches`,
    )
  return commit
}

/** Whether a commit is in the history of another. */
export async function isWithin(
  folder: string,
  { commit, of }: { readonly commit: string; readonly of: string },
  signal: AbortSignal,
): Promise<boolean> {
  const answer = git(folder, ['merge-base', '--is-ancestor', commit, of], { signal }).then(() => 'yes')
  return (await maybe(answer)) !== undefined
}

/** Whether a branch, other than the one named, has a commit in its history. */
export async function isOnBranch(
  folder: string,
  { commit, except }: { readonly commit: string; readonly except?: string },
  signal: AbortSignal,
): Promise<boolean> {
  const list = ['for-each-ref', '--format=%(refname)', '--contains', commit, 'refs/heads', 'refs/remotes']
  const refs = (await git(folder, list, { signal })).split('\n')
  return refs.some((ref) => ref !== '' && ref !== `refs/heads/${except}`)
}

/** Refuses what git takes for no name of a branch. */
export async function checkBranchName(folder: string, branch: string, signal: AbortSignal): Promise<void> {
  if ((await maybe(git(folder, ['check-ref-format', '--branch', branch], { signal }))) === undefined)
    throw new AppError('invalid', `git does not accept the branch name ${branch}; choose another`)
}

/** Whether a path leads to anything, a link that leads nowhere included. */
export const isThere = (path: string): Promise<boolean> =>
  fs.lstat(path).then(
    () => true,
    () => false,
  )

/** What git answers with `-z`: the one form in which every name is as it is. */
export const nulWords = (text: string): readonly string[] => text.split('\0').filter((word) => word !== '')
