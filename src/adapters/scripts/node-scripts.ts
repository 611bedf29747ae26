import { promises as fs } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { AppError } from '../../contract/errors.ts'
import { ScriptMeta, type ScriptSource } from '../../contract/script.ts'
import type { Processes } from '../../ports/processes.ts'
import type { ScriptBudget, Scripts } from '../../ports/scripts.ts'
import { askProgram, findProgram } from '../system/run-program.ts'
import { type ChildLimits, runChild, ScriptFailed, usualLimits } from './child-process.ts'

type ScriptOptions = {
  readonly processes: Processes
  /** Where bwrap is looked for. */
  readonly path: string
  readonly hasWalls?: boolean
  readonly limits?: Partial<ChildLimits>
}

const mostFiles = 20
const mostBytes = 256 << 10
const describeMs = 10_000
const nothingLeft: ScriptBudget = { tokens: null, agents: null, usd: null }

/** Scripts in processes of Node, which strips their types itself. */
export function nodeScripts({ processes, path, hasWalls = true, limits = {} }: ScriptOptions): Scripts {
  const bounds = { ...usualLimits, ...limits }
  let known: Promise<readonly string[]> | undefined
  const argvOf = (signal: AbortSignal) => {
    known ??= scriptArgv({ path, node: process.execPath, hasWalls }, signal)
    known.catch(() => {
      known = undefined
    })
    return known
  }

  return {
    async describe(file, signal) {
      const folder = await fs.realpath(dirname(file)).catch(() => dirname(file))
      const main = basename(file)
      if (!/\.(ts|mts|mjs)$/.test(main))
        throw new AppError('invalid', `${file} is not a script; its name must end in .ts, .mts or .mjs`)
      let files: Record<string, string> = { [main]: await readSource(folder, main) }
      for (;;) {
        const begin = {
          mode: 'describe',
          source: { main, files },
          args: null,
          nowMs: 0,
          seed: main,
          left: nothingLeft,
        } as const
        const starting = {
          argv: await argvOf(signal),
          processes,
          limits: { ...bounds, quietMs: Math.min(describeMs, bounds.quietMs) },
          begin,
          answer: () => Promise.reject(new ScriptFailed('it makes a call before its function is called')),
        }
        const said = await runChild(starting, signal).catch(onlyMissing)
        if ('missing' in said) {
          files = { ...files, [said.missing]: await readSource(folder, said.missing) }
          mustFit(files)
          continue
        }
        return { meta: readMeta(main, 'meta' in said ? said.meta : undefined), source: begin.source }
      }
    },

    async run(beginning, answer, signal) {
      mustFit(beginning.source.files)
      const said = await runChild(
        {
          argv: await argvOf(signal),
          processes,
          limits: bounds,
          begin: { mode: 'run', ...beginning },
          answer,
        },
        signal,
      )
      return 'done' in said ? said.done : undefined
    },
  }
}

/** A file that lies in the folder itself: a link that leads out of it is none. */
async function readSource(folder: string, name: string): Promise<string> {
  const file = await fs.realpath(join(folder, name)).catch(() => undefined)
  if (file === undefined) throw new AppError('not_found', `there is no file ${join(folder, name)}`)
  if (relative(folder, file).startsWith('..'))
    throw new AppError('denied', `${name} is outside ${folder}; a script may import only files next to it`)
  const { size } = await fs.stat(file)
  if (size > mostBytes) throw tooLarge()
  return fs.readFile(file, 'utf8')
}

function mustFit(files: ScriptSource['files']): void {
  const texts = Object.values(files)
  if (texts.length > mostFiles)
    throw new AppError('invalid', `a script and its imports may have at most ${mostFiles} files`)
  if (texts.reduce((sum, { length }) => sum + length, 0) > mostBytes) throw tooLarge()
}

const tooLarge = () =>
  new AppError('too_large', `a script and its imports may have at most ${mostBytes} characters`)

function onlyMissing(error: unknown): { readonly missing: string } {
  if (error instanceof ScriptFailed && error.missing !== undefined) return { missing: error.missing }
  throw error
}

function readMeta(main: string, meta: unknown): ScriptMeta {
  const read = ScriptMeta.safeParse(meta)
  if (read.success) return read.data
  const [issue] = read.error.issues
  const where = ['meta', ...(issue?.path ?? [])].join('.')
  throw new AppError('invalid', `${main}: ${where}: ${issue?.message ?? 'it is missing'}`)
}

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
