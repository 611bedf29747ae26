import { promises as fs } from 'node:fs'
import { join, relative } from 'node:path'
import * as z from 'zod'
import { AppError } from '../../contract/errors.ts'
import type { Processes } from '../../ports/processes.ts'
import type { FileChange, Tool, ToolContext, ToolOutcome } from '../../ports/tools.ts'
import { defineTool } from '../system/define-tool.ts'
import { gitFolders, isOfGit, takeAway } from '../system/git-folders.ts'
import { askProgram } from '../system/run-program.ts'
import { canWall, wallArguments } from '../system/shell-sandbox.ts'
import { ownTemporary } from '../system/temporary-files.ts'
import { guardFiles, type Verdict } from './guard-files.ts'
import { type Ran, runShell } from './run-shell.ts'
import { copyWorkspace } from './snapshot.ts'
import { isWithin, type MatchesGlob, type WorkspaceTurns } from './workspace-access.ts'
import { writableFolders } from './writable-folders.ts'

const usualMs = 120_000
const longestMs = 600_000
/** The system takes 128 KB as one argument. */
const mostBytes = 120_000

const Input = z.strictObject({
  command: z
    .string()
    .min(1)
    .refine((command) => !command.includes('\0'), 'a command has no NUL character')
    .refine(
      (command) => Buffer.byteLength(command) <= mostBytes,
      'it is too long; write it into a file and run that',
    )
    .describe('What bash is to run'),
  timeout: z
    .int()
    .min(1)
    .max(longestMs)
    .optional()
    .describe(`Milliseconds after which it is ended; ${usualMs} when left out, at most ${longestMs}`),
  description: z.string().max(500).optional().describe('What the command does, in a few words, for people'),
})

export function bashTool(parts: BashParts): Tool {
  let isWalled: boolean | undefined
  const runThrowAway = throwAway()
  return defineTool({
    name: 'Bash',
    description: [
      'Runs a command with bash in the folder of the project and answers its output and exit code.',
      'Each call starts fresh there: neither cd nor variables carry over, and /tmp is empty.',
      'Where you may change no files it works on a copy, and what it writes is thrown away.',
      'There is no input and no terminal. What is started in the background ends with the call.',
      'To read, find, search or change files use the other tools.',
    ].join(' '),
    category: 'action',
    input: Input,
    async run({ command, timeout = usualMs }, context) {
      // Only a yes is kept: somebody may install it meanwhile.
      isWalled ||= parts.hasWalls && (await canWall(parts.env, context.signal))
      const call = { command, timeoutMs: timeout, context, parts }
      await using temporary = await temporaryFolders()
      if (!isWalled) return await runGuarded(call, temporary)
      return context.mayChange ? await runWalled(call, temporary) : await runThrowAway(call, temporary)
    },
  })
}

/** Behind walls most limits hold by themselves; only globs that mean a part of a folder need a look afterwards. */
async function runWalled(call: BashCall, temporary: TemporaryFolders): Promise<ToolOutcome> {
  const { workspace, writable, signal } = call.context
  const { env, hidden, alsoWritable, turns } = call.parts
  const [first = ['**'], ...others] = writable
  await using opened = await writableFolders(workspace, first)
  const git = await gitFolders(workspace, writable.length === 0)
  const argv = wallArguments({
    workspace,
    writable: opened.folders,
    layers: git.layers,
    alsoWritable,
    temporary: temporary.forCommand,
    hidden,
    env,
  })
  const run = async () => ({ ran: await runBash(call, argv, env), strays: await takeAway(git.mustNotAppear) })
  if (opened.isExact && others.length === 0)
    return await turns.shared(workspace, signal, async () => outcomeOf(workspace, await run()))
  const folders = opened.folders.map((folder) => relative(workspace, folder))
  return await guarded(call, { folders, store: temporary.forCopies, run })
}

/** Without walls nothing holds a command back: what it may not change is put back afterwards. */
async function runGuarded(call: BashCall, temporary: TemporaryFolders): Promise<ToolOutcome> {
  const { workspace, writable, mayChange, signal } = call.context
  const env = { ...call.parts.env, TMPDIR: temporary.forCommand }
  const run = async () => ({ ran: await runBash(call, [], env), strays: [] })
  if (mayChange && writable.length === 0)
    return await call.parts.turns.shared(workspace, signal, async () => outcomeOf(workspace, await run()))
  return await guarded(call, { folders: [''], store: temporary.forCopies, run })
}

type Done = { readonly ran: Ran; readonly strays: readonly string[] }

type Guard = {
  readonly folders: readonly string[]
  readonly store: string
  readonly run: () => Promise<Done>
}

function guarded(call: BashCall, { folders, store, run }: Guard): Promise<ToolOutcome> {
  const { workspace, writable, mayChange, signal } = call.context
  const { matchesGlob, turns } = call.parts
  const isInScope = (path: string) => mayChange && (isWithin(path, writable, matchesGlob) || isOfGit(path))
  // Alone: what others changed meanwhile would be undone too.
  return turns.alone(workspace, signal, async () => {
    const judge = await guardFiles({ workspace, folders, isInScope, store, signal })
    const done = await run()
    const { changes, undone, failed } = await judge()
    // Whoever may change nothing broke no limit by it: it was meant to be thrown away.
    return outcomeOf(workspace, done, {
      changes: changes.filter(({ path }) => !isOfGit(path)),
      undone: mayChange ? undone : [],
      failed,
    })
  })
}

function outcomeOf(workspace: string, { ran, strays }: Done, verdict?: Verdict): ToolOutcome {
  if (strays.length === 0) return bashOutcome(ran, verdict)
  const { changes = [], undone = [], failed = [] } = verdict ?? {}
  const more = strays.map((path) => ({ path: relative(workspace, path), change: 'created' as const }))
  return bashOutcome(ran, { changes, undone: [...undone, ...more], failed })
}

type Environment = Readonly<Record<string, string>>

/** What Bash needs of the world. */
type BashParts = {
  readonly matchesGlob: MatchesGlob
  readonly turns: WorkspaceTurns
  readonly processes: Processes
  readonly env: Environment
  /** Full paths of folders of which a command may see nothing, where there are walls. */
  readonly hidden: readonly string[]
  /** Full paths of folders outside of the project that it may change, where there are walls: caches of programs. */
  readonly alsoWritable: readonly string[]
  /** Without them what may not change is guarded by copies, as where bwrap is missing. */
  readonly hasWalls: boolean
}

/** One call of Bash. */
type BashCall = {
  readonly command: string
  readonly timeoutMs: number
  readonly context: ToolContext
  readonly parts: BashParts
}

/** One stream for both outputs keeps their order; what comes by the other is of the walls. */
const merged = ['sh', '-c', 'exec "$@" 2>&1', 'sh', 'bash', '-c']

/** Runs the command of a call behind what the argv before it puts up. */
const runBash = (call: BashCall, before: readonly string[], env: Environment): Promise<Ran> =>
  runShell({
    argv: [...before, ...merged, call.command],
    folder: call.context.workspace,
    env,
    timeoutMs: call.timeoutMs,
    signal: call.context.signal,
    onOutput: call.context.onOutput,
    processes: call.parts.processes,
  })

/** Folders for the time of one call. */
type TemporaryFolders = AsyncDisposable & {
  /** What the command finds as its folder for temporary files. */
  readonly forCommand: string
  /** Where copies of the project are kept. */
  readonly forCopies: string
}

async function temporaryFolders(): Promise<TemporaryFolders> {
  const folder = await ownTemporary('bash')
  const [forCommand, forCopies] = [join(folder, 'tmp'), join(folder, 'kept')]
  await fs.mkdir(forCommand)
  await fs.mkdir(forCopies)
  return {
    forCommand,
    forCopies,
    [Symbol.asyncDispose]: () =>
      fs.rm(folder, { recursive: true, force: true }).catch((error: NodeJS.ErrnoException) => {
        // A command may leave folders that nobody but root can empty; they lie in no one's way.
        if (error.code !== 'EACCES' && error.code !== 'EPERM') throw error
      }),
  }
}

const mostNamed = 50
const mostTold = 1000

/** What a model is told of a command that ran. */
function bashOutcome(ran: Ran, verdict?: Verdict): ToolOutcome {
  const broken = verdict ? [...verdict.undone, ...verdict.failed].map(({ path }) => path) : []
  const isBroken = verdict !== undefined && broken.length > 0
  const text = [
    ...(isBroken ? violation(verdict) : []),
    ...(ran.text === '' ? [] : [ran.text.replace(/\n$/, '')]),
    ...endingOf(ran),
  ].join('\n')
  return {
    text,
    isError: isBroken || ran.why !== 'ended' || ran.exitCode !== 0,
    exitCode: ran.exitCode,
    ...(ran.isTruncated && { isTruncated: true as const }),
    ...(verdict && { changes: [...verdict.changes, ...verdict.failed].slice(0, mostTold) }),
    ...(isBroken && { scopeViolation: broken.slice(0, mostTold) }),
  }
}

function violation({ undone, failed }: Verdict): readonly string[] {
  return [
    ...list('scope_violation: these changes are outside what may be changed and were undone:', undone),
    ...list(
      'scope_violation: these changes are outside what may be changed and could NOT be undone:',
      failed,
    ),
    '',
  ]
}

function list(title: string, changes: readonly FileChange[]): readonly string[] {
  if (changes.length === 0) return []
  const more = changes.length - mostNamed
  return [
    title,
    ...changes.slice(0, mostNamed).map(({ path, change }) => `- ${change} ${path}`),
    ...(more > 0 ? [`- and ${more} more`] : []),
  ]
}

function endingOf({ why, exitCode, text, left }: Ran): readonly string[] {
  const still = left.length > 0 ? [`[still running, could not be ended: process ${left.join(', ')}]`] : []
  if (why === 'timeout') return ['[ended: it took longer than its timeout]', ...still]
  if (why === 'cancelled') return ['[ended: the call was cancelled]', ...still]
  if (exitCode !== 0) return [`[exit code ${exitCode}]`, ...still]
  return [...(text === '' ? ['[no output]'] : []), ...still]
}

/** Runs a command that may change nothing: it finds the project at its place, and what it writes there is gone with it. */
type ThrowAway = (call: BashCall, temporary: TemporaryFolders) => Promise<ToolOutcome>

function throwAway(): ThrowAway {
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
