import { existsSync } from 'node:fs'
import type { IsolationRequest } from '../../ports/isolation.ts'

/** What the walls stand between. */
export type Surrounding = {
  /** Folders of which nothing may be seen: state folders, sockets of tmux. */
  readonly hidden: readonly string[]
  /** What `sm` needs inside, though it lies in a folder that is hidden or replaced. */
  readonly readable: readonly string[]
}

/**
 * Namespaces of its own, everything read-only, and nothing of what runs beside it: no process, no socket of a service
 * that would start a program outside. Without its capabilities nobody inside can take a wall down again, root neither.
 */
export const namespaces: readonly string[] = (
  '--unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try --cap-drop ALL ' +
  '--ro-bind / / --dev /dev --proc /proc --tmpfs /tmp --tmpfs /var/tmp --tmpfs /run'
).split(' ')

/** Names are looked up with what lies here on machines where a service writes it. */
const resolvers = ['/run/systemd/resolve', '/run/resolvconf', '/run/NetworkManager', '/run/current-system']

/** The arguments of bwrap for a session; what comes later lies over what came before. */
export function bwrapArgs(
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
