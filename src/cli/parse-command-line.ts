import type { CommandDefinition } from '../contract/cli/command.ts'
import { type CommandName, commands } from '../contract/cli.ts'
import { AppError } from '../contract/errors.ts'
import { findCommand } from './find-command.ts'
import { commandHelp, familyHelp, rootHelp } from './render/help.ts'

/** What a command line asks for. */
export type Invocation = { readonly isJson: boolean; readonly color: boolean | undefined } & (
  | { readonly kind: 'help'; readonly text: string }
  | { readonly kind: 'incomplete'; readonly text: string }
  | {
      readonly kind: 'command'
      readonly name: CommandName
      readonly input: Readonly<Record<string, unknown>>
    }
)

const globalFlags = new Set(['--json', '--color', '--no-color'])

/** Reads a command line by the table of commands; what does not fit is refused with the nearest that does. */
export async function parseCommandLine(argv: readonly string[]): Promise<Invocation> {
  const start = argv.findIndex((word) => !globalFlags.has(word))
  const leading = argv.slice(0, start === -1 ? argv.length : start)
  const words = argv.slice(leading.length)
  const flags = globalsOf(wordsBeforeDashes(argv))
  const [first] = words
  if (first === undefined || first === '--help' || first === '-h')
    return { ...flags, kind: 'help', text: rootHelp() }
  if (first === '--version') return { ...flags, kind: 'command', name: 'version', input: {} }
  const asksHelp =
    first === 'help' || wordsBeforeDashes(words).some((word) => word === '--help' || word === '-h')
  const asked = first === 'help' ? words.slice(1).filter((word) => !globalFlags.has(word)) : words
  if (asksHelp && asked.length === 0) return { ...flags, kind: 'help', text: rootHelp() }
  const found = findCommand(asked, asksHelp)
  if (found.kind === 'family') {
    if (flags.isJson && !asksHelp) {
      throw new AppError('invalid', `say which command of ${found.family}; see: sm help ${found.family}`)
    }
    return { ...flags, kind: asksHelp ? 'help' : 'incomplete', text: familyHelp(found.family) }
  }
  if (asksHelp) return { ...flags, kind: 'help', text: commandHelp(found.name) }
  return { ...flags, kind: 'command', name: found.name, input: await inputOf(found.name, found.rest) }
}

function wordsBeforeDashes(words: readonly string[]): readonly string[] {
  const end = words.indexOf('--')
  return end === -1 ? words : words.slice(0, end)
}

function globalsOf(words: readonly string[]): { isJson: boolean; color: boolean | undefined } {
  const color = words.findLast((word) => word === '--color' || word === '--no-color')
  return { isJson: words.includes('--json'), color: color === undefined ? undefined : color === '--color' }
}

// The parser is loaded only when there is something to parse: it costs more than `sm version` itself.
async function inputOf(
  name: CommandName,
  words: readonly string[],
): Promise<Readonly<Record<string, unknown>>> {
  const rest = words.filter((word) => !globalFlags.has(word))
  if (rest.length === 0 && !demandsWords(name)) return usualInput(name)
  const { parseInput } = await import('./parse-input.ts')
  return parseInput(name, words)
}

function demandsWords(name: CommandName): boolean {
  const { arguments: taken }: CommandDefinition = commands[name]
  return Object.values(taken).some(({ takes }) => takes !== 'optional')
}

/** What the parser would make of no words at all. */
function usualInput(name: CommandName): Readonly<Record<string, unknown>> {
  const { arguments: taken, options }: CommandDefinition = commands[name]
  const values = Object.entries(options).map(([option, { kind, isMany, default: usual }]) => [
    option,
    kind === 'switch' ? false : isMany ? [] : usual,
  ])
  return Object.fromEntries([...values, ...Object.keys(taken).map((argument) => [argument, undefined])])
}
