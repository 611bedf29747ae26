import { type CommandName, commandEntries, commands } from '../contract/cli.ts'
import { nearest } from '../contract/config/nearest.ts'
import { AppError } from '../contract/errors.ts'

/** The command that the first words name, or the family when its second word is missing. */
export type FoundCommand =
  | { readonly kind: 'command'; readonly name: CommandName; readonly rest: readonly string[] }
  | { readonly kind: 'family'; readonly family: string }

const names = commandEntries.map(([name]) => name)
const families = new Set(names.filter((name) => name.includes(' ')).map((name) => name.split(' ')[0] ?? ''))
const aliases = new Map(
  commandEntries.flatMap(([name, { alias }]) => (alias === undefined ? [] : [[alias, name]])),
)

export function findCommand(words: readonly string[], isHelp: boolean): FoundCommand {
  const [word = '', second, ...rest] = words
  const first = aliases.get(word) ?? word
  const name = `${first} ${second}`
  // The longer name goes first: `checkpoint diff` is a command, and so is `checkpoint`.
  if (isCommand(name)) return { kind: 'command', name, rest }
  if (isCommand(first)) return { kind: 'command', name: first, rest: words.slice(1) }
  if (!families.has(first)) throw unknown(first)
  if (second === undefined || (isHelp && second.startsWith('-'))) return { kind: 'family', family: first }
  throw unknown(name)
}

function isCommand(name: string): name is CommandName {
  return Object.hasOwn(commands, name)
}

function unknown(name: string): AppError {
  if (name.startsWith('-')) {
    return new AppError('invalid', `unknown option '${name}' before the command; sm help lists the commands`)
  }
  const [family = '', word] = name.split(' ')
  const known =
    word === undefined
      ? [...families, ...names, ...aliases.keys()]
      : names.filter((other) => other.startsWith(`${family} `))
  // People remember the verb: `sm verify` meant `sm journal verify`.
  const near = nearest(name, known) ?? names.find((other) => other.endsWith(` ${word ?? name}`))
  const hint = near === undefined ? '' : `; did you mean sm ${near}?`
  return new AppError('invalid', `unknown command '${name}'${hint || '; sm help lists the commands'}`)
}
