import { relative } from 'node:path'
import * as z from 'zod'
import type { Tool, ToolOutcome } from '../../ports/tools.ts'
import { defineTool } from '../system/define-tool.ts'
import { canWall, wallArguments } from '../system/shell-walls.ts'
import {
  type BashCall,
  type BashParts,
  runBash,
  type TemporaryFolders,
  temporaryFolders,
} from './bash-call.ts'
import { bashOutcome } from './bash-outcome.ts'
import { gitFolders, isOfGit, takeAwayStrays } from './git-folders.ts'
import { guardFiles, type Verdict } from './guard-files.ts'
import { isWithin } from './may-change.ts'
import type { Ran } from './run-shell.ts'
import { throwAway } from './throw-away.ts'
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
      'Each call starts anew there: neither cd nor variables carry over, and /tmp is empty.',
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
  const run = async () => ({ ran: await runBash(call, argv, env), strays: await takeAwayStrays(git) })
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
