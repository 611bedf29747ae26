import { askProgram } from '../system/ask-program.ts'
import { findProgram } from '../system/find-program.ts'

/** No file, no other program, no thread, no addon; little memory; and no warning where an answer is meant to be. */
const nodeOptions = ['--permission', '--no-warnings', '--max-old-space-size=256', '--input-type=module']

/** Where a system keeps what Node itself is linked with. */
const libraries = ['/usr/lib', '/usr/lib64', '/usr/local/lib', '/lib', '/lib64', '/nix/store']

/** Nothing of this machine is there: no network, no process, no file but Node and its libraries. */
const walls = (bwrap: string, node: string): readonly string[] => [
  bwrap,
  ...'--unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-net --unshare-cgroup-try'.split(' '),
  ...'--cap-drop ALL --die-with-parent --clearenv --tmpfs / --dev /dev --proc /proc'.split(' '),
  ...libraries.flatMap((path) => ['--ro-bind-try', path, path]),
  '--ro-bind',
  node,
  '/node',
  ...'--remount-ro / --chdir / -- /node'.split(' '),
]

/** The beginning of an argv for the process of a script: behind walls where this machine has them. */
export async function scriptArgv(
  { path, node, hasWalls }: { readonly path: string; readonly node: string; readonly hasWalls: boolean },
  signal: AbortSignal,
): Promise<readonly string[]> {
  const bwrap = hasWalls ? await findProgram('bwrap', path) : undefined
  if (bwrap === undefined) return [node, ...nodeOptions]
  const [command, ...rest] = walls(bwrap, node)
  const tried = await askProgram(command ?? '', [...rest, '--version'], { signal, env: {} })
  return tried?.code === 0 ? [bwrap, ...rest, ...nodeOptions] : [node, ...nodeOptions]
}
