import { existsSync, promises as fs } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { AppError } from '../../contract/errors.ts'
import type { ConfigHome, Isolation, IsolationRequest } from '../../ports/isolation.ts'
import { privateFolder } from '../system/durable-files.ts'
import { noFile } from '../system/foreign-files.ts'
import { askProgram } from '../system/run-program.ts'

/** Walls by bubblewrap: namespaces of its own for processes and mounts, made without any privilege. */
export function bwrapIsolation(around: Surrounding & { readonly extra: () => readonly string[] }): Isolation {
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
      return ['bwrap', ...bwrapArgs(request, { ...around, homes: homes.flat() }), '--', ...request.argv]
    },
    state,
  }
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
      cure: 'install bubblewrap (Linux only), or spawn with --isolation none',
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

/** The arguments of bwrap for a session; what comes later lies over what came before. */
function bwrapArgs(
  request: IsolationRequest,
  { hidden, readable, homes }: Surrounding & { readonly homes: readonly string[] },
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
 * A CLI's folder as a session behind walls sees it: conversations are the user's own, settings are copies and folders
 * read-only. Else it could leave a hook or a server there that the user's next session runs outside.
 */
export async function privateHome(home: ConfigHome, folder: string): Promise<readonly string[]> {
  await privateFolder(folder)
  for (const { name, isFolder } of home.shared)
    if (isFolder) await fs.mkdir(join(home.path, name), { recursive: true, mode: 0o700 })
  const mounts: string[] = ['--bind', folder, home.path]
  const shared = new Set(home.shared.map(({ name }) => name))
  for (const name of await fs.readdir(home.path)) {
    const path = join(home.path, name)
    const stat = await fs.stat(path).catch(() => undefined)
    if (stat === undefined || home.fresh.includes(name)) continue
    if (shared.has(name)) mounts.push('--bind', path, path)
    else if (stat.isFile() && stat.size <= mostBytes) await fs.copyFile(path, join(folder, name))
    else if (stat.isFile() || stat.isDirectory()) mounts.push('--ro-bind', path, path)
  }
  for (const { from, name } of home.copied)
    await fs.copyFile(from, join(folder, name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
    })
  return mounts
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
    const repository = (await linkedRepository(await real(treeOf))) ?? join(await real(treeOf), '.git')
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
  const repository = await linkedRepository(work)
  return [work, ...(repository ? [repository] : []), ...added]
}

const isWithin = (path: string, folder: string): boolean =>
  path === folder || folder === '/' || path.startsWith(`${folder}/`)

const real = (path: string): Promise<string> => fs.realpath(path).catch(() => resolve(path))

/** Commits of a linked work tree go to the repository that it belongs to. */
async function linkedRepository(workingDir: string): Promise<string | undefined> {
  for (let at = workingDir; at !== dirname(at); at = dirname(at)) {
    const link = await fs.readFile(join(at, '.git'), 'utf8').catch(noFile)
    const [, folder] = /^gitdir: (.+)$/m.exec(link ?? '') ?? []
    if (folder === undefined) continue
    const common = await fs.readFile(join(resolve(at, folder), 'commondir'), 'utf8').catch(noFile)
    return common && real(resolve(at, folder, common.trim()))
  }
  return undefined
}
