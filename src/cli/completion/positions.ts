import type { CommandDefinition, Option } from '../../contract/cli/command.ts'
import { commandEntries, globalOptions } from '../../contract/cli.ts'

/** Something that can be typed next, and what it means. */
export type Word = { readonly word: string; readonly about: string }

/** One state of a command line: the words so far, and what may follow them. */
export type Position = {
  /** The words without options: empty, a family, or a whole command. */
  readonly after: string
  readonly isCommand: boolean
  readonly words: readonly Word[]
  readonly options: readonly (readonly [string, Option])[]
  readonly takesFile: boolean
}

/** Every state that completion knows, from the table of commands. */
export function positions(): Position[] {
  const families = [
    ...new Set(commandEntries.flatMap(([name]) => (name.includes(' ') ? [name.split(' ')[0] ?? ''] : []))),
  ]
  const single = commandEntries.filter(([name]) => !name.includes(' '))
  const names = new Set<string>(single.map(([name]) => name))
  const pure = families.filter((family) => !names.has(family))
  const start = [
    ...single.flatMap(([name, { summary, alias }]) =>
      [name, ...(alias === undefined ? [] : [alias])].map((word) => ({ word, about: summary })),
    ),
    ...pure.map((word) => ({
      word,
      about: `${secondWords(word)
        .map((next) => next.word)
        .join(', ')}`,
    })),
  ]
  // A shell takes the first that fits, so `checkpoint diff` stands before `checkpoint`.
  const longestFirst = commandEntries.toSorted(([a], [b]) => b.split(' ').length - a.split(' ').length)
  return [
    menu('', start),
    ...pure.map((family) => menu(family, secondWords(family))),
    ...longestFirst.flatMap(([name, definition]) =>
      [name, ...(definition.alias === undefined ? [] : [definition.alias])].map((after) =>
        leaf(after, definition),
      ),
    ),
  ]
}

function secondWords(family: string): Word[] {
  return commandEntries
    .filter(([name]) => name.startsWith(`${family} `))
    .map(([name, { summary }]) => ({ word: name.slice(family.length + 1), about: summary }))
}

function menu(after: string, words: readonly Word[]): Position {
  return { after, isCommand: false, words, options: Object.entries(globalOptions), takesFile: false }
}

function leaf(after: string, definition: CommandDefinition): Position {
  const taken = Object.values(definition.arguments)
  return {
    after,
    isCommand: true,
    words: [
      ...secondWords(after),
      ...taken.flatMap(({ choices = [], about }) => choices.map((word) => ({ word, about }))),
    ],
    options: [...Object.entries(definition.options), ...Object.entries(globalOptions)],
    takesFile: taken.some((argument) => argument.isFile),
  }
}
