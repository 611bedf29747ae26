import { AppError } from '../../contract/errors.ts'
import type { Processes } from '../../ports/processes.ts'
import type { Scripts } from '../../ports/scripts.ts'
import { askProgram, findProgram } from '../system/run-program.ts'
import { type ChildLimits, runChild, usualLimits } from './child-process.ts'
import { mustFit, type ParseScript, readScript } from './read-script.ts'

type ScriptOptions = {
  readonly processes: Processes
  readonly parse: ParseScript
  /** Where bwrap is looked for. */
  readonly path: string
  readonly hasWalls?: boolean
  readonly limits?: Partial<ChildLimits>
}

/** Scripts in processes of Node, which strips their types itself. */
export function nodeScripts(options: ScriptOptions): Scripts {
  const { processes, parse, path, hasWalls = true, limits = {} } = options
  const bounds = { ...usualLimits, ...limits }
  let walled: readonly string[] | undefined
  const argvOf = async (isUnsafe: boolean, signal: AbortSignal): Promise<readonly string[]> => {
    walled ??= hasWalls ? await walledArgv(path, signal) : undefined
    if (walled) return walled
    if (isUnsafe) return [process.execPath, ...nodeOptions]
    throw new AppError(
      'denied',
      'bubblewrap is missing or not allowed here, so nothing would keep the script in; install it, or add --unsafe if you trust every line of the script',
    )
  }

  return {
    describe: (file) => readScript(file, parse),
    requireWalls: async (isUnsafe, signal) => void (await argvOf(isUnsafe, signal)),

    async run({ isUnsafe = false, ...begin }, answer, signal) {
      mustFit(begin.source.files)
      const argv = await argvOf(isUnsafe, signal)
      const said = await runChild({ argv, processes, limits: bounds, begin, answer }, signal)
      return 'done' in said ? said.done : undefined
    },
  }
}

/** No file, no other program, no thread, no addon; little memory; and no warning where an answer is meant to be. */
export const nodeOptions = [
  '--permission',
  '--no-warnings',
  '--max-old-space-size=256',
  '--input-type=module',
]

/** Where a system keeps what Node itself is linked with. */
const libraries = ['/usr/lib', '/usr/lib64', '/usr/local/lib', '/lib', '/lib64', '/nix/store']

/** Nothing of this machine is there: no network, no process, no file but Node and its libraries. */
const walls = (bwrap: string, node: string): readonly string[] => [
  bwrap,
  ...'--unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-net --unshare-cgroup-try'.split(' '),
  ...'--cap-drop ALL --die-with-parent --clearenv --tmpfs / --dev /dev --proc /proc'.split(' '),
  ...'--ro-bind-try /proc/sys /proc/sys'.split(' '),
  ...libraries.flatMap((path) => ['--ro-bind-try', path, path]),
  '--ro-bind',
  node,
  '/node',
  ...'--remount-ro / --chdir / -- /node'.split(' '),
]

/** The beginning of an argv for the process of a script behind walls, where this machine has them. */
export async function walledArgv(path: string, signal: AbortSignal): Promise<readonly string[] | undefined> {
  const bwrap = await findProgram('bwrap', path)
  if (bwrap === undefined) return undefined
  const [command = '', ...rest] = walls(bwrap, process.execPath)
  const tried = await askProgram(command, [...rest, '--version'], { signal, env: {} })
  return tried?.code === 0 ? [command, ...rest, ...nodeOptions] : undefined
}
