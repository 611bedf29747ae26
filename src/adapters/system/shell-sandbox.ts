import { existsSync } from 'node:fs'
import { askProgram } from './run-program.ts'

/** What a command may reach behind its walls. */
export type Walls = {
  readonly workspace: string
  /** A copy that stands in its place. */
  readonly instead?: string
  /** Full paths of folders in the workspace that may be changed. */
  readonly writable: readonly string[]
  /** What is opened or closed after that, each over the ones before. */
  readonly layers?: readonly Layer[]
  /** Full paths of folders outside of it that may be changed, when they are there. */
  readonly alsoWritable: readonly string[]
  /** A folder of its own in place of /tmp. */
  readonly temporary: string
  /** Full paths of folders of which nothing may be seen. */
  readonly hidden: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Behind them there is no network. */
  readonly isOffline?: true
}

/** A full path that may be changed, or may not. */
export type Layer = { readonly path: string; readonly isOpen: boolean }

/** Whoever puts up walls under another user id is himself again behind them. */
const self = ['--uid', String(process.getuid?.() ?? 0), '--gid', String(process.getgid?.() ?? 0)]

/**
 * Namespaces of its own and everything read-only. Nothing of what runs beside it is there: no process, no socket of a
 * service that would start a program outside. Without capabilities nobody inside takes a wall down, root neither; and
 * when the first process inside ends, all of them do.
 */
const namespaces: readonly string[] = [
  '--unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try',
  '--cap-drop ALL --die-with-parent',
  // Settings of the kernel open for root, also for one without capabilities.
  '--ro-bind / / --dev /dev --proc /proc --ro-bind-try /proc/sys /proc/sys --tmpfs /run',
].flatMap((line) => line.split(' '))

const namespacesOf = ({ isOffline }: Pick<Walls, 'isOffline'>): readonly string[] =>
  isOffline ? [...namespaces, '--unshare-net'] : namespaces

/** Names are looked up with what lies here on machines where a service writes it. */
const resolvers = ['/run/systemd/resolve', '/run/resolvconf', '/run/NetworkManager', '/run/current-system']

/** The beginning of an argv that puts the rest of it behind walls; what comes later lies over what came before. */
export function wallArguments(walls: Walls): readonly string[] {
  const {
    workspace,
    instead = workspace,
    writable,
    layers = [],
    alsoWritable,
    temporary,
    hidden,
    env,
  } = walls
  const isHidden = (path: string) => hidden.some((folder) => isWithin(path, folder))
  const isAround = (folder: string) => isWithin(workspace, folder)
  const programs = (env['PATH'] ?? '')
    .split(':')
    .filter((folder) => folder.startsWith('/') && !isHidden(folder))
  const there = (paths: readonly string[]) => paths.filter((path) => existsSync(path))
  const mount = (option: string, paths: readonly string[]) => paths.flatMap((path) => [option, path, path])
  const empty = (paths: readonly string[]) => there(paths).flatMap((path) => ['--tmpfs', path])
  return [
    ['bwrap', ...namespacesOf(walls), ...self, '--bind', temporary, '/tmp', '--bind', temporary, '/var/tmp'],
    mount('--ro-bind', there([...resolvers, ...programs])),
    mount('--bind-try', alsoWritable),
    // The workspace may lie in one of those or in what is hidden; only what follows opens it.
    empty(hidden.filter(isAround)),
    ['--ro-bind', instead, workspace],
    writable.flatMap((path) => ['--bind', path === workspace ? instead : path, path]),
    layers.flatMap(({ path, isOpen }) => [isOpen ? '--bind' : '--ro-bind', path, path]),
    empty(hidden.filter((folder) => !isAround(folder))),
    ['--setenv', 'TMPDIR', '/tmp', '--chdir', workspace, '--'],
  ].flat()
}

const isWithin = (path: string, folder: string): boolean => `${path}/`.startsWith(`${folder}/`)

/** Whether walls can be put up here: bwrap is there, and the system permits namespaces. */
export async function canWall(
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
  walls: Pick<Walls, 'isOffline'> = {},
): Promise<boolean> {
  const tried = await askProgram('bwrap', [...namespacesOf(walls), '--', 'true'], { signal, env })
  return tried?.code === 0
}
