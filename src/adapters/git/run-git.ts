import { execFile } from 'node:child_process'
import { promises as fs } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { AppError } from '../../contract/errors.ts'
import { type GitSetting, harmlessGit } from '../system/harmless-git.ts'
import { ownTemporary } from '../system/temporary-files.ts'
import { type SafeSettings, safeSettings } from './repository-settings.ts'

const run = promisify(execFile)
const mostBytes = 64 << 20

/** Runs git in a folder, and no program that its repository names; a failure says what git said. */
export async function git(folder: string, args: readonly string[], options: Options): Promise<string> {
  const safe = await safeSettings(folder, options.signal)
  if (safe.drivers.length > 0 && writesFiles(args)) await refuseDrivers(folder, safe, options)
  return start(folder, args, { ...options, safe })
}

async function start(
  folder: string,
  args: readonly string[],
  { safe, ...options }: Options & { readonly safe: SafeSettings },
): Promise<string> {
  const env = {
    ...harmlessGit(process.env, [...safe.settings, ...(options.settings ?? [])]),
    ...(safe.root !== undefined && { GIT_WORK_TREE: safe.root }),
    ...options.env,
  }
  const { signal, encoding = 'utf8' } = options
  try {
    const started = run('git', ['-C', folder, ...withoutPrograms(args)], {
      maxBuffer: mostBytes,
      encoding,
      signal,
      env,
    })
    started.child.stdin?.on('error', () => {})
    started.child.stdin?.end(options.input ?? '')
    return (await started).stdout
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

/** What only an option of the command turns off: programs that show a difference, and a look into modules. */
function withoutPrograms([command = '', ...args]: readonly string[]): readonly string[] {
  const options = {
    diff: ['--no-ext-diff', '--no-textconv', '--ignore-submodules=dirty'],
    log: ['--no-ext-diff', '--no-textconv'],
    show: ['--no-ext-diff', '--no-textconv'],
    status: ['--ignore-submodules=dirty'],
  }[command]
  return [command, ...(options ?? []), ...args]
}

/** Whether a command has files pass through filters or merge drivers, and keeps what comes out. */
function writesFiles([command = '', sub]: readonly string[]): boolean {
  if (command === 'worktree') return sub === 'add'
  return ['add', 'cat-file', 'checkout', 'merge', 'merge-tree', 'reset', 'update-index'].includes(command)
}

/** Refuses a commit whose files would pass through a program that the repository itself names. */
export async function checkDrivers(folder: string, commit: string, signal: AbortSignal): Promise<void> {
  const safe = await safeSettings(folder, signal)
  if (safe.drivers.length === 0) return
  const temporary = await ownTemporary('git')
  try {
    const env = { GIT_INDEX_FILE: join(temporary, 'index') }
    await start(folder, ['read-tree', commit], { signal, env, safe })
    await refuseDrivers(folder, safe, { signal, env, isOfCommit: true })
  } finally {
    await fs.rm(temporary, { recursive: true, force: true })
  }
}

/**
 * The one place where a repository's own programs are refused. They are turned off in any case; but a file that should
 * pass through one would be kept as something else.
 */
async function refuseDrivers(
  folder: string,
  safe: SafeSettings,
  { signal, env = {}, isOfCommit = false }: Options & { readonly isOfCommit?: boolean },
): Promise<void> {
  const others = isOfCommit ? [] : ['-o', '--exclude-standard']
  const files = await start(folder, ['ls-files', '-z', '-c', ...others], { signal, env, safe })
  const asked = ['check-attr', '-z', '--stdin', ...(isOfCommit ? ['--cached'] : []), 'filter', 'merge']
  const words = (await start(folder, asked, { signal, env, safe, input: files })).split('\0')
  for (let i = 0; i + 2 < words.length; i += 3) {
    const [file, attribute, name] = words.slice(i, i + 3)
    const used = safe.drivers.find((one) => one.attribute === attribute && one.name === name)
    if (used === undefined) continue
    const kind = used.attribute === 'filter' ? 'filter' : 'merge driver'
    const section = used.key.slice(0, used.key.lastIndexOf('.'))
    throw new AppError(
      'denied',
      `${file} needs the ${kind} ${JSON.stringify(name)}, a program that the settings of the repository in ${folder} name; Muster runs only your own and those that you trust: see sm trust, set ${section} with git config --global, or remove it with git config --remove-section ${section}`,
      { details: { key: used.key, file } },
    )
  }
}

/** Git has one exit code for every fatal end: only what it prints, in the C locale, names a repository it does not trust. */
const isDistrusted = (stderr: string): boolean => /^fatal: detected dubious ownership /m.test(stderr)

/** What is known of a failure of git beyond its words. */
export type GitFailure = { readonly isDistrusted: boolean }

/** How git is run. */
export type Options = {
  readonly signal: AbortSignal
  readonly env?: Readonly<Record<string, string>>
  /** Latin1 keeps every byte of a file apart. */
  readonly encoding?: 'utf8' | 'latin1'
  /** Settings of git for this command. */
  readonly settings?: readonly GitSetting[]
  /** What it reads. */
  readonly input?: string
}

/** Runs git on what is ours: nothing in the settings of the user may ask, change or refuse something. */
export const ownGit = (folder: string, args: readonly string[], signal: AbortSignal): Promise<string> =>
  git(folder, args, ownOptions(signal))

/** How git is run on what is ours. */
export const ownOptions = (signal: AbortSignal): Options => ({ signal, settings, env })

const settings: readonly GitSetting[] = [
  ['core.safecrlf', 'false'],
  ['merge.autoStash', 'false'],
  ['merge.log', 'false'],
  ['rerere.enabled', 'false'],
]

/** Whose commits ours are; so that they can be made where no user.name is set. */
export const author = {
  GIT_AUTHOR_NAME: 'Muster',
  GIT_AUTHOR_EMAIL: 'muster@localhost',
  GIT_COMMITTER_NAME: 'Muster',
  GIT_COMMITTER_EMAIL: 'muster@localhost',
} as const

const env = { ...author, GIT_LITERAL_PATHSPECS: '1' }

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
