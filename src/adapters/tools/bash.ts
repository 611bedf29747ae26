import { promises as fs } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import * as z from 'zod'
import type { Processes } from '../../ports/processes.ts'
import type { Tool, ToolContext, ToolOutcome } from '../../ports/tools.ts'
import { bashOutcome } from './bash-outcome.ts'
import { defineTool } from './define-tool.ts'
import { guardFiles } from './guard-files.ts'
import { isWithin, type MatchesGlob } from './may-change.ts'
import { runShell } from './run-shell.ts'
import { canWall, wallArguments } from './shell-walls.ts'
import type { WorkspaceTurns } from './workspace-turns.ts'
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

/** What Bash needs of the world. */
export type BashParts = {
  readonly matchesGlob: MatchesGlob
  readonly turns: WorkspaceTurns
  readonly processes: Processes
  readonly env: Readonly<Record<string, string>>
  /** Full paths of folders of which a command may see nothing, where there are walls. */
  readonly hidden: readonly string[]
  /** Full paths of folders outside of the project that it may change, where there are walls: caches of programs. */
  readonly alsoWritable: readonly string[]
  /** Without them what may not change is guarded by copies, as where bwrap is missing. */
  readonly hasWalls: boolean
}

export function bashTool(parts: BashParts): Tool {
  let isWalled: boolean | undefined
  return defineTool({
    name: 'Bash',
    description: [
      'Runs a command with bash in the folder of the project and answers its output and exit code.',
      'Each call starts anew there: neither cd nor variables carry over, and /tmp is empty.',
      'There is no input and no terminal. What is started in the background ends with the call.',
      'To read, find, search or change files use the other tools.',
    ].join(' '),
    category: 'action',
    input: Input,
    async run({ command, timeout = usualMs }, context) {
      // Only a yes is kept: somebody may install it meanwhile.
      isWalled ||= parts.hasWalls && (await canWall(parts.env, context.signal))
      const call = { command, timeoutMs: timeout, context, parts }
      return isWalled ? runWalled(call) : runGuarded(call)
    },
  })
}

type Call = {
  readonly command: string
  readonly timeoutMs: number
  readonly context: ToolContext
  readonly parts: BashParts
}

/** Behind walls most limits hold by themselves; only globs that mean a part of a folder need a look afterwards. */
async function runWalled(call: Call): Promise<ToolOutcome> {
  const { workspace, writable, mayChange, signal } = call.context
  const { env, hidden, alsoWritable, turns } = call.parts
  await using temporary = await temporaryFolder()
  const [first = ['**'], ...others] = writable
  await using opened = await writableFolders(workspace, mayChange ? first : [])
  const walls = {
    workspace,
    writable: opened.folders,
    alsoWritable,
    temporary: temporary.forCommand,
    hidden,
    env,
  }
  const run = () => shell(call, wallArguments(walls), env).then((ran) => bashOutcome(ran))
  if (!mayChange) return await run()
  if (opened.isExact && others.length === 0) return await turns.shared(workspace, signal, run)
  const folders = opened.folders.map((folder) => relative(workspace, folder))
  return await guarded(call, { folders, store: temporary.forCopies, argv: wallArguments(walls), env })
}

/** Without walls nothing holds a command back: what it may not change is put back afterwards. */
async function runGuarded(call: Call): Promise<ToolOutcome> {
  const { workspace, writable, mayChange, signal } = call.context
  await using temporary = await temporaryFolder()
  const env = { ...call.parts.env, TMPDIR: temporary.forCommand }
  if (mayChange && writable.length === 0)
    return await call.parts.turns.shared(workspace, signal, async () =>
      bashOutcome(await shell(call, [], env)),
    )
  return await guarded(call, { folders: [''], store: temporary.forCopies, argv: [], env })
}

type Guard = {
  readonly folders: readonly string[]
  readonly store: string
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

function guarded(call: Call, { folders, store, argv, env }: Guard): Promise<ToolOutcome> {
  const { workspace, writable, mayChange, signal } = call.context
  const { matchesGlob, turns } = call.parts
  const isInScope = (path: string) => mayChange && isWithin(path, writable, matchesGlob)
  // Alone: what others changed meanwhile would be undone too.
  return turns.alone(workspace, signal, async () => {
    const judge = await guardFiles({ workspace, folders, isInScope, store, signal })
    const ran = await shell(call, argv, env)
    return bashOutcome(ran, await judge())
  })
}

/** One stream for both outputs keeps their order; what comes by the other is of the walls. */
const merged = ['sh', '-c', 'exec "$@" 2>&1', 'sh', 'bash', '-c']

const shell = (call: Call, walls: readonly string[], env: Readonly<Record<string, string>>) =>
  runShell({
    argv: [...walls, ...merged, call.command],
    folder: call.context.workspace,
    env,
    timeoutMs: call.timeoutMs,
    signal: call.context.signal,
    onOutput: call.context.onOutput,
    processes: call.parts.processes,
  })

async function temporaryFolder() {
  const folder = await fs.mkdtemp(join(await fs.realpath(tmpdir()), 'muster-bash-'))
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
