import type { CommandDefinition } from '../contract/cli/command.ts'
import { type CommandName, commandEntries, commands } from '../contract/cli.ts'
import { AppError } from '../contract/errors.ts'

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
  const help = async (kind: 'help' | 'incomplete', topic?: FoundCommand): Promise<Invocation> => ({
    ...flags,
    kind,
    text: await helpText(topic),
  })
  if (first === undefined || first === '--help' || first === '-h') return help('help')
  if (first === '--version') return { ...flags, kind: 'command', name: 'version', input: {} }
  const asksHelp =
    first === 'help' || wordsBeforeDashes(words).some((word) => word === '--help' || word === '-h')
  const asked = first === 'help' ? words.slice(1).filter((word) => !globalFlags.has(word)) : words
  if (asksHelp && asked.length === 0) return help('help')
  const found = await findCommand(asked, asksHelp)
  if (found.kind === 'family') {
    if (flags.isJson && !asksHelp) {
      throw new AppError('invalid', `${found.family} needs a subcommand; see: sm help ${found.family}`)
    }
    return help(asksHelp ? 'help' : 'incomplete', found)
  }
  if (asksHelp) return help('help', found)
  return { ...flags, kind: 'command', name: found.name, input: await inputOf(found.name, found.rest) }
}

// Help is laid out by the width of its words, and loading what measures them costs every command a millisecond or two.
async function helpText(topic: FoundCommand | undefined): Promise<string> {
  const { commandHelp, familyHelp, rootHelp } = await import('./render/help.ts')
  if (topic === undefined) return rootHelp()
  return topic.kind === 'family' ? familyHelp(topic.family) : commandHelp(topic.name)
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

/** The command that the first words name, or the family when its second word is missing. */
type FoundCommand =
  | { readonly kind: 'command'; readonly name: CommandName; readonly rest: readonly string[] }
  | { readonly kind: 'family'; readonly family: string }

const names = commandEntries.map(([name]) => name)
const families = new Set(names.filter((name) => name.includes(' ')).map((name) => name.split(' ')[0] ?? ''))
const aliases = new Map(
  commandEntries.flatMap(([name, { alias }]) => (alias === undefined ? [] : [[alias, name]])),
)

async function findCommand(words: readonly string[], isHelp: boolean): Promise<FoundCommand> {
  const [word = '', second, ...rest] = words
  const first = aliases.get(word) ?? word
  const name = `${first} ${second}`
  // The longer name goes first: `checkpoint diff` is a command, and so is `checkpoint`.
  if (isCommand(name)) return { kind: 'command', name, rest }
  if (isCommand(first)) return { kind: 'command', name: first, rest: words.slice(1) }
  if (!families.has(first)) throw await unknown(first)
  if (second === undefined || (isHelp && second.startsWith('-'))) return { kind: 'family', family: first }
  throw await unknown(name)
}

function isCommand(name: string): name is CommandName {
  return Object.hasOwn(commands, name)
}

async function unknown(name: string): Promise<AppError> {
  if (name.startsWith('-')) {
    return new AppError('invalid', `unknown option '${name}' before the command; sm help lists the commands`)
  }
  const [family = '', word] = name.split(' ')
  const known =
    word === undefined
      ? [...families, ...names, ...aliases.keys()]
      : names.filter((other) => other.startsWith(`${family} `))
  // People remember the verb: `sm verify` meant `sm journal verify`.
  const { nearest } = await import('../contract/config/nearest.ts')
  const near = nearest(name, known) ?? names.find((other) => other.endsWith(` ${word ?? name}`))
  const hint = near === undefined ? '' : `; did you mean sm ${near}?`
  return new AppError('invalid', `unknown command '${name}'${hint || '; sm help lists the commands'}`)
}
