import { AppError } from '../../contract/errors.ts'
import type { ToolOutcome } from '../../ports/tools.ts'
import { askProgram } from '../system/ask-program.ts'
import { wallArguments } from '../system/shell-walls.ts'
import { type BashCall, runBash, type TemporaryFolders } from './bash-call.ts'
import { bashOutcome } from './bash-outcome.ts'
import { copyWorkspace } from './copy-workspace.ts'

/** Runs a command that may change nothing: it finds the project at its place, and what it writes there is gone with it. */
export type ThrowAway = (call: BashCall, temporary: TemporaryFolders) => Promise<ToolOutcome>

export function throwAway(): ThrowAway {
  const layered = new Map<string, Promise<boolean>>()
  return async (call, temporary) => {
    const { workspace, signal } = call.context
    const { env, hidden, alsoWritable } = call.parts
    const walls = { workspace, alsoWritable, temporary: temporary.forCommand, hidden, env }
    const layer = { workspace, folder: temporary.forCopies }
    const canLayer = layered.get(workspace) ?? mountsLayer(layer, call)
    layered.set(workspace, canLayer)
    // A look that was cancelled says nothing about the next one.
    const isLayered = await canLayer.finally(() => signal.aborted && layered.delete(workspace))
    if (isLayered) {
      const argv = [...layerArguments(layer, 'lower'), ...wallArguments({ ...walls, writable: [workspace] })]
      return bashOutcome(await runBash(call, argv, env))
    }
    const copy = await copyWorkspace(workspace, temporary.forCopies, signal).catch(tooLarge)
    const open = copy === undefined ? { writable: [] } : { writable: [workspace], instead: copy }
    return bashOutcome(await runBash(call, wallArguments({ ...walls, ...open }), env))
  }
}

/** Without a copy it runs where nothing can be written: a look at a large project is still possible. */
function tooLarge(error: unknown): undefined {
  if (error instanceof AppError && error.code === 'too_large') return undefined
  throw error
}

type Layer = { readonly workspace: string; readonly folder: string }

/** What a command may write until it is over; it lies in memory. */
const mostWritten = '2g'

/** In a mount namespace of its own, which ends with the command. Paths are relative: in options some characters mean more. */
const mountLayer = [
  `mount -t tmpfs -o size=${mostWritten} tmpfs "$1"`,
  'cd "$1"',
  'mkdir -p lower upper work seed/.muster-seed',
  'mount --rbind "$2" lower',
  'mount -t overlay -o "userxattr,lowerdir=$3,upperdir=upper,workdir=work" overlay "$2"',
  'shift 3',
  'exec "$@"',
].join(' && ')

const layerArguments = ({ workspace, folder }: Layer, lower: string): readonly string[] => [
  ...'unshare --user --map-root-user --mount -- sh -c'.split(' '),
  mountLayer,
  'sh',
  folder,
  workspace,
  lower,
]

/** Whether the system can put a layer over this project in which a folder can also be removed and made again. */
async function mountsLayer(layer: Layer, { parts, context }: BashCall): Promise<boolean> {
  const probe = 'cd "$1" && rm -r .muster-seed && mkdir .muster-seed && [ -z "$(ls -A .muster-seed)" ]'
  const [command = '', ...args] = layerArguments(layer, 'lower:seed')
  const tried = await askProgram(command, [...args, 'sh', '-c', probe, 'sh', layer.workspace], {
    signal: context.signal,
    env: parts.env,
  })
  return tried?.code === 0
}
