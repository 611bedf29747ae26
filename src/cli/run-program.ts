import { AppError, type ErrorCode, errorCodes } from '../contract/errors.ts'
import type { View } from './command-module.ts'
import { type Io, openIo } from './io.ts'
import { loadCommand } from './load-command.ts'
import { type Invocation, parseCommandLine } from './parse-command-line.ts'
import { jsonText } from './render/safe-text.ts'
import { openTerminal, type Terminal } from './terminal.ts'

/** Runs `sm` in this process: one command line in, results on stdout, messages on stderr, an exit code. */
export async function runProgram(entryUrl: string): Promise<never> {
  const terminal = openTerminal(process)
  const argv = wordsOf(process)
  // Node would print it as it is, with whatever its message repeats.
  process.on('uncaughtException', (error) => process.exit(tell(error, terminal, argv.includes('--json'))))
  let exit: number
  try {
    const invocation = await parseCommandLine(argv)
    exit = terminal.interrupted() ?? (await answer(invocation, terminal, entryUrl))
  } catch (error) {
    // The line may be what failed to parse, so the wish for JSON is read from its words.
    exit = terminal.interrupted() ?? tell(error, terminal, argv.includes('--json'))
  }
  // Results are flushed; a socket that lingers must not keep the prompt waiting.
  process.exit(terminal.interrupted() ?? exit)
}

/** The words of the command line; without any, a person at a terminal sees what is going on. */
function wordsOf({ argv, stdin, stdout, env }: NodeJS.Process): readonly string[] {
  const isPerson = stdin.isTTY === true && stdout.isTTY === true && env['TERM'] !== 'dumb'
  return argv.length > 2 || !isPerson ? argv.slice(2) : ['watch']
}

async function answer(invocation: Invocation, terminal: Terminal, entryUrl: string): Promise<number> {
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
  const io = openIo({ terminal, entryUrl, isJson, isColored: terminal.view(color).color })
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

function tell(error: unknown, terminal: Terminal, isJson: boolean): number {
  const { exit, ...failure } = failureOf(error)
  if (isJson) terminal.say(jsonText(failure))
  else if (hasWays(error)) for (const line of [`sm: ${failure.message}`, ...waysOf(error)]) terminal.say(line)
  else if (hasLines(error)) for (const line of `sm: ${failure.message}`.split('\n')) terminal.say(line)
  else terminal.say(`sm: ${failure.message}`)
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

const hasWays = (error: unknown): boolean => waysOf(error).length > 0

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
