import { homedir } from 'node:os'
import type { CommandName } from '../contract/cli.ts'
import { AppError, type ErrorCode, errorCodes } from '../contract/errors.ts'
import type { View } from './command-module.ts'
import { inWordsOf, shortened } from './failure-words.ts'
import { type Io, openIo, type Place } from './io.ts'
import { loadCommand } from './load-command.ts'
import { type Invocation, parseCommandLine } from './parse-command-line.ts'
import { jsonText } from './render/safe-text.ts'
import { openTerminal, type Terminal } from './terminal.ts'

/** Runs `sm` in this process: one command line in, results on stdout, messages on stderr, an exit code. */
export async function runProgram(entryUrl: string): Promise<never> {
  const terminal = openTerminal(process)
  const argv = wordsOf(process)
  // Node would print it as it is, with whatever its message repeats.
  process.on('uncaughtException', (error) =>
    process.exit(tell(error, terminal, { isJson: argv.includes('--json') })),
  )
  const exit = await runLine(argv, { terminal, entryUrl, place: () => placeOf(process) })
  // Results are flushed; a socket that lingers must not keep the prompt waiting.
  process.exit(terminal.interrupted() ?? exit)
}

function placeOf(process: NodeJS.Process): Place {
  try {
    return { env: process.env, cwd: process.cwd(), home: homedir() }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw new AppError('not_found', 'the folder you are in no longer exists; cd to another one', {
      cause: error,
    })
  }
}

type World = { readonly terminal: Terminal; readonly entryUrl: string; place(): Place }

/** Runs one command line and answers its exit code; what is wrong with it is told. */
export async function runLine(argv: readonly string[], world: World): Promise<number> {
  const { terminal } = world
  let invocation: Invocation | undefined
  try {
    invocation = await parseCommandLine(argv)
    return terminal.interrupted() ?? (await answer(invocation, world))
  } catch (error) {
    const name = invocation?.kind === 'command' ? invocation.name : undefined
    // The line may be what failed to parse, so the wish for JSON is read from its words.
    return terminal.interrupted() ?? tell(error, terminal, { isJson: argv.includes('--json'), name })
  }
}

/** The words of the command line; without any, a person at a terminal sees what is going on. */
function wordsOf({ argv, stdin, stdout, env }: NodeJS.Process): readonly string[] {
  const isPerson = stdin.isTTY === true && stdout.isTTY === true && env['TERM'] !== 'dumb'
  return argv.length > 2 || !isPerson ? argv.slice(2) : ['watch']
}

async function answer(invocation: Invocation, world: World): Promise<number> {
  const { terminal, entryUrl } = world
  if (invocation.kind === 'help') {
    await terminal.write(`${invocation.text}\n`)
    return 0
  }
  if (invocation.kind === 'incomplete') {
    for (const line of invocation.text.split('\n')) terminal.say(line)
    return errorCodes.invalid.exit
  }
  const command: AnyCommand = await loadCommand(invocation.name)
  const { isJson, color } = invocation
  const io = openIo({
    terminal,
    entryUrl,
    place: world.place(),
    isJson,
    isColored: terminal.view(color).color,
  })
  return 'text' in command
    ? printText(command.text(invocation.input as never, io), terminal)
    : printData({ command, invocation, terminal, io })
}

/** A command whose input and data no longer have a name: the table and the loader have matched them. */
type AnyCommand = AnyDataCommand | { text(input: never, io: Io): AsyncIterable<string> }

type AnyDataCommand = {
  run(input: never, io: Io): Promise<unknown> | AsyncIterable<unknown>
  render(data: never, view: View, input: never): string
  exitCode?(data: never): number
  isRedrawn?(input: never): boolean
}

async function printText(pieces: AsyncIterable<string>, terminal: Terminal): Promise<number> {
  for await (const piece of pieces) await terminal.write(piece)
  return 0
}

type Printing = {
  readonly command: AnyDataCommand
  readonly invocation: Extract<Invocation, { kind: 'command' }>
  readonly terminal: Terminal
  readonly io: Io
}

async function printData({ command, invocation, terminal, io }: Printing): Promise<number> {
  const input = invocation.input as never
  const isRedrawn = !invocation.isJson && terminal.isTerminal && command.isRedrawn?.(input) === true
  const print = async (data: unknown, indent: number): Promise<number> => {
    const text = invocation.isJson
      ? jsonText(data, indent)
      : command.render(data as never, terminal.view(invocation.color), input)
    if (isRedrawn) await terminal.redraw(text)
    else if (text !== '') await terminal.write(`${text}\n`)
    return command.exitCode?.(data as never) ?? 0
  }
  const answered = command.run(input, io)
  if (!(Symbol.asyncIterator in answered)) return print(await answered, 2)
  let exit = 0
  for await (const data of answered) exit = Math.max(exit, await print(data, 0))
  return exit
}

type Line = { readonly isJson: boolean; readonly name?: CommandName | undefined }

function tell(error: unknown, terminal: Terminal, { isJson, name }: Line): number {
  const { exit, ...failure } = failureOf(error)
  if (isJson) terminal.say(jsonText(failure))
  else {
    const text = `sm: ${shortened(inWordsOf(name, failure))}`
    for (const line of hasLines(error) ? text.split('\n') : [text, ...waysOf(error)]) terminal.say(line)
  }
  return exit
}

/** A refusal is one line, whatever it repeats of what was typed or read; a list of problems and a bug's stack are more. */
const hasLines = (error: unknown): boolean =>
  !(error instanceof AppError) ||
  Array.isArray((error.details as { problems?: unknown } | undefined)?.problems)

/** What a person can do about it, each with its command. */
const waysOf = (error: unknown): string[] => {
  const ways = error instanceof AppError ? (error.details as { ways?: unknown } | undefined)?.ways : undefined
  return Array.isArray(ways) ? ways.map((way) => `  ${String(way)}`) : []
}

/** A failed command as it is told: to people by its message, to programs as JSON, to the shell by its exit code. */
export type Failure = {
  readonly code: ErrorCode
  readonly message: string
  readonly details?: unknown
  readonly exit: number
}

export function failureOf(error: unknown): Failure {
  if (error instanceof AppError) {
    const { code, message, details } = error
    return { code, message, ...(details === undefined ? {} : { details }), exit: errorCodes[code].exit }
  }
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { code: 'internal', message: `a bug in sm: ${message}`, exit: errorCodes.internal.exit }
}
