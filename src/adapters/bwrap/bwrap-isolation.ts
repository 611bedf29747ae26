import { existsSync, promises as fs } from 'node:fs'
import { homedir } from 'node:os'
import { basename, delimiter, dirname, join, resolve } from 'node:path'
import { AppError } from '../../contract/errors.ts'
import type { ConfigHome, Isolation, IsolationRequest } from '../../ports/isolation.ts'
import { privateFolder } from '../system/durable-files.ts'
import { noFile } from '../system/foreign-files.ts'
import { gitClosedIn, gitRedirects, takeAway } from '../system/git-folders.ts'
import { installCommand } from '../system/install-command.ts'
import { askProgram, findProgram } from '../system/run-program.ts'
import type { Layer } from '../system/shell-sandbox.ts'

/** Walls by bubblewrap: namespaces of its own for processes and mounts, made without any privilege. */
export function bwrapIsolation(around: Surrounding & { readonly extra: () => readonly string[] }): Isolation {
  const redirects = new WeakMap<readonly string[], Promise<readonly string[]>>()
  return {
    async writable(place, env, signal) {
      await mustWork(signal)
      return writableFor(place, { env, extra: around.extra(), hidden: around.hidden })
    },
    async wrap(request, signal) {
      await mustWork(signal)
      const homes = []
      for (const [i, home] of request.homes.entries())
        homes.push(await privateHome(home, `${request.folder}/home-${i}`))
      const program = await builderOutside(request.writable)
      const closed = await gitClosedIn(request.writable, await linkedFolder(request.workingDir))
      const args = bwrapArgs(request, { ...around, homes: homes.flat(), closed })
      return [program, ...args, '--', ...request.argv]
    },
    async undo(writable) {
      const watched = redirects.get(writable) ?? gitRedirects(writable)
      redirects.set(writable, watched)
      return takeAway(await watched)
    },
    state,
  }
}

/**
 * The program that builds the walls, by its full path: looked up in the session's own environment it could be one that
 * a session wrote, and would run outside.
 */
async function builderOutside(writable: readonly string[]): Promise<string> {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  for (const folder of folders) {
    const program = await findProgram('bwrap', folder)
    const path = program && (await real(program))
    if (path && !writable.some((open) => isWithin(path, open))) return path
  }
  throw new AppError(
    'unavailable',
    'bwrap was not found outside the folders of the session; install bubblewrap',
  )
}

async function mustWork(signal: AbortSignal): Promise<void> {
  const { isThere, detail, cure } = await state(signal)
  if (!isThere) throw new AppError('unavailable', `isolation by bwrap does not work here: ${detail}; ${cure}`)
}

/** Tries the very walls that sessions get. */
async function state(signal: AbortSignal): ReturnType<Isolation['state']> {
  const version = await askProgram('bwrap', ['--version'], { signal })
  if (version === undefined)
    return {
      isThere: false,
      detail: 'bwrap was not found',
      cure: `${installCommand('bubblewrap')} (Linux only), or spawn with --isolation none`,
    }
  const tried = await askProgram('bwrap', [...namespaces, '--', 'true'], { signal })
  if (tried?.code === 0) return { isThere: true, detail: version.stdout.trim() }
  return {
    isThere: false,
    detail: `${version.stdout.trim()} fails: ${tried?.stderr.trim() || 'no answer'}`,
    cure:
      'allow user namespaces (sysctl kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0,' +
      ' or a container that permits them), or spawn with --isolation none',
  }
}

/** What the walls stand between. */
type Surrounding = {
  /** Folders of which nothing may be seen: state folders, sockets of tmux. */
  readonly hidden: readonly string[]
  /** What `sm` needs inside, though it lies in a folder that is hidden or replaced. */
  readonly readable: readonly string[]
}

/**
 * Namespaces of its own, everything read-only, and nothing of what runs beside it: no process, no socket of a service
 * that would start a program outside. Without its capabilities nobody inside can take a wall down again, root neither;
 * settings of the kernel would open for root even so.
 */
const namespaces: readonly string[] = (
  '--unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try --cap-drop ALL ' +
  '--ro-bind / / --dev /dev --proc /proc --ro-bind-try /proc/sys /proc/sys --tmpfs /tmp --tmpfs /var/tmp --tmpfs /run'
).split(' ')

/** Names are looked up with what lies here on machines where a service writes it. */
const resolvers = ['/run/systemd/resolve', '/run/resolvconf', '/run/NetworkManager', '/run/current-system']

/** What lies over the folders that a session may write. */
type Inside = {
  readonly homes: readonly string[]
  /** What opens and closes in them. */
  readonly closed: readonly Layer[]
}

/** The arguments of bwrap for a session; what comes later lies over what came before. */
function bwrapArgs(
  request: IsolationRequest,
  { hidden, readable, homes, closed }: Surrounding & Inside,
): readonly string[] {
  const isHidden = (path: string) => hidden.some((folder) => `${path}/`.startsWith(`${folder}/`))
  const programs = request.path.split(':').filter((folder) => folder.startsWith('/') && !isHidden(folder))
  return [
    ...namespaces,
    ...hidden.filter((path) => existsSync(path)).flatMap((path) => ['--tmpfs', path]),
    ...[...resolvers, ...programs, ...readable]
      .filter((path) => existsSync(path))
      .flatMap((path) => ['--ro-bind', path, path]),
    ...request.writable.flatMap((path) => ['--bind', path, path]),
    ...closed.flatMap(({ path, isOpen }) => [isOpen ? '--bind' : '--ro-bind', path, path]),
    '--bind',
    request.folder,
    request.folder,
    ...homes,
    '--setenv',
    'TMPDIR',
    '/tmp',
    '--chdir',
    request.workingDir,
  ]
}

const mostBytes = 4 << 20

/**
 * A CLI's folder as a session behind walls sees it: settings are copies and folders read-only. Else it could leave a hook
 * or a server there that the user's next session runs outside. Of conversations it sees those of its own place.
 */
export async function privateHome(home: ConfigHome, folder: string): Promise<readonly string[]> {
  await privateFolder(folder)
  const { name: all, folder: place, own } = home.records
  const records = join(home.path, all, place)
  await fs.mkdir(records, { recursive: true, mode: 0o700 })
  const mounts: string[] = ['--bind', folder, home.path]
  for (const name of await fs.readdir(home.path)) {
    const path = join(home.path, name)
    const stat = await fs.stat(path).catch(() => undefined)
    if (stat === undefined || home.fresh.includes(name) || name === all) continue
    if (home.shared.includes(name)) mounts.push('--bind', path, path)
    else if (stat.isFile() && stat.size <= mostBytes) await fs.copyFile(path, join(folder, name))
    else if (stat.isFile() || stat.isDirectory()) mounts.push('--ro-bind', path, path)
  }
  mounts.push('--bind', records, records)
  for (const path of await recordsOfOthers(records, own)) mounts.push('--ro-bind', path, path)
  for (const { from, name } of home.copied)
    await fs.copyFile(from, join(folder, name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
    })
  return mounts
}

const recordEnding = '.jsonl'
/** An argv has an end; those written to last are the ones that somebody reads. */
const mostRecords = 1000

/** What a session could put into the mouths of others: their records, each with the folder that goes with it. */
async function recordsOfOthers(folder: string, own: string): Promise<readonly string[]> {
  const entries = await fs.readdir(folder, { withFileTypes: true })
  const folders = new Set(entries.filter((entry) => entry.isDirectory()).map(({ name }) => name))
  const ids = entries
    .filter((entry) => entry.isFile() && entry.name.endsWith(recordEnding))
    .map(({ name }) => name.slice(0, -recordEnding.length))
    .filter((id) => id !== own)
  const dated = ids.map(async (id) => {
    const stat = await fs.lstat(join(folder, `${id}${recordEnding}`)).catch(noFile)
    return { id, at: stat?.mtimeMs }
  })
  return (await Promise.all(dated))
    .flatMap(({ id, at }) => (at === undefined ? [] : [{ id, at }]))
    .toSorted((a, b) => b.at - a.at)
    .slice(0, mostRecords)
    .flatMap(({ id }) => [`${id}${recordEnding}`, ...(folders.has(id) ? [id] : [])])
    .map((name) => join(folder, name))
}

type Around = {
  readonly env: Readonly<Record<string, string>>
  /** What the configuration adds. */
  readonly extra: readonly string[]
  readonly hidden: readonly string[]
}

/** The folder that it works in, the repository of a linked work tree, and what the configuration adds. */
export async function writableFor(
  { workingDir, treeOf }: { readonly workingDir: string; readonly treeOf?: string },
  { env, extra, hidden }: Around,
): Promise<readonly string[]> {
  const home = await real(env['HOME'] ?? homedir())
  const more = await Promise.all(extra.map((path) => real(path.replace(/^~(?=\/|$)/, home))))
  const there = await Promise.all(more.map((path) => fs.stat(path).then(() => path, noFile)))
  const added = there.filter((path) => path !== undefined)
  // One that we make ourselves lies in the state folder, and nothing else of that is opened.
  if (treeOf !== undefined) {
    const linked = await linkedFolder(await real(treeOf))
    const repository = linked ? repositoryOf(linked) : join(await real(treeOf), '.git')
    return [workingDir, repository, ...added]
  }
  const work = await real(workingDir)
  const guarded = await Promise.all([home, ...hidden].map(real))
  for (const path of guarded) {
    if (isWithin(path, work))
      throw new AppError(
        'invalid',
        `${workingDir} holds ${path}, which an isolated session may not write to; choose a folder inside the project`,
      )
  }
  const inside = guarded.slice(1).find((path) => isWithin(work, path))
  if (inside)
    throw new AppError(
      'invalid',
      `${workingDir} is inside ${inside}, which is hidden from it; choose another folder`,
    )
  const linked = await linkedFolder(work)
  return [work, ...(linked ? [repositoryOf(linked)] : []), ...added]
}

const isWithin = (path: string, folder: string): boolean =>
  path === folder || folder === '/' || path.startsWith(`${folder}/`)

const real = (path: string): Promise<string> => fs.realpath(path).catch(() => resolve(path))

const repositoryOf = (linked: string): string => dirname(dirname(linked))

/**
 * The folder that a linked work tree has in the repository that it belongs to, where its commits go. The repository must
 * know the work tree, too: whoever once worked in a folder could have left a link there that opens any other to the next
 * session.
 */
async function linkedFolder(workingDir: string): Promise<string | undefined> {
  for (let at = workingDir; at !== dirname(at); at = dirname(at)) {
    const link = join(at, '.git')
    const [, folder] = /^gitdir: (.+)$/m.exec((await fs.readFile(link, 'utf8').catch(noFile)) ?? '') ?? []
    if (folder === undefined) continue
    const own = await real(resolve(at, folder))
    const back = (await fs.readFile(join(own, 'gitdir'), 'utf8').catch(noFile))?.trim()
    const isKnown = back !== undefined && (await real(resolve(own, back))) === (await real(link))
    return isKnown && basename(dirname(own)) === 'worktrees' ? own : undefined
  }
  return undefined
}
