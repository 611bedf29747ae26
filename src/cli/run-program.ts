import { errorCodes } from '../contract/errors.ts'
import type { CommandModule } from './command-module.ts'
import { failureOf } from './failure.ts'
import type { Io } from './io.ts'
import { loadCommand } from './load-command.ts'
import { openIo } from './open-io.ts'
import { type Invocation, parseCommandLine } from './parse-command-line.ts'
import { openTerminal, type Terminal } from './terminal.ts'

/** Runs `sm` in this process: one command line in, results on stdout, messages on stderr, an exit code. */
export async function runProgram(entryUrl: string): Promise<never> {
  const terminal = openTerminal(process)
  const argv = process.argv.slice(2)
  let exit: number
  try {
    exit = await answer(await parseCommandLine(argv), terminal, entryUrl)
  } catch (error) {
    // The line may be what failed to parse, so the wish for JSON is read from its words.
    exit = terminal.interrupted() ?? tell(error, terminal, argv.includes('--json'))
  }
  // Results are flushed; a socket that lingers must not keep the prompt waiting.
  process.exit(exit)
}

async function answer(invocation: Invocation, terminal: Terminal, entryUrl: string): Promise<number> {
  if (invocation.kind === 'help') {
    await terminal.write(`${invocation.text}\n`)
    return 0
  }
  if (invocation.kind === 'incomplete') {
    terminal.say(invocation.text)
    return errorCodes.invalid.exit
  }
  const module: CommandModule<never> = await loadCommand(invocation.name)
  const io = openIo({ terminal, entryUrl, isJson: invocation.isJson })
  return 'text' in module
    ? printText(module.text(invocation.input as never, io), terminal)
    : printData({ module, invocation, terminal, io })
}

async function printText(pieces: AsyncIterable<string>, terminal: Terminal): Promise<number> {
  for await (const piece of pieces) await terminal.write(piece)
  return 0
}

type Printing = {
  readonly module: Exclude<CommandModule<never>, { text: unknown }>
  readonly invocation: Extract<Invocation, { kind: 'command' }>
  readonly terminal: Terminal
  readonly io: Io
}

async function printData({ module, invocation, terminal, io }: Printing): Promise<number> {
  const view = terminal.view(invocation.color)
  const print = async (data: unknown, indent: number): Promise<number> => {
    const text = invocation.isJson ? JSON.stringify(data, null, indent) : module.render(data as never, view)
    if (text !== '') await terminal.write(`${text}\n`)
    return module.exitCode?.(data as never) ?? 0
  }
  const answered = module.run(invocation.input as never, io)
  if (!(Symbol.asyncIterator in answered)) return print(await answered, 2)
  let exit = 0
  for await (const data of answered) exit = Math.max(exit, await print(data, 0))
  return exit
}

function tell(error: unknown, terminal: Terminal, isJson: boolean): number {
  const { exit, ...failure } = failureOf(error)
  terminal.say(isJson ? JSON.stringify(failure) : `sm: ${failure.message}`)
  return exit
}
