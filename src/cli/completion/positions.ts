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
  const start = [
    ...single.map(([word, { summary }]) => ({ word, about: summary })),
    ...families.map((word) => ({
      word,
      about: `${secondWords(word)
        .map((next) => next.word)
        .join(', ')}`,
    })),
  ]
  return [
    menu('', start),
    ...families.map((family) => menu(family, secondWords(family))),
    ...commandEntries.map(([name, definition]) => leaf(name, definition)),
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
    words: taken.flatMap(({ choices = [], about }) => choices.map((word) => ({ word, about }))),
    options: [...Object.entries(definition.options), ...Object.entries(globalOptions)],
    takesFile: taken.some((argument) => argument.isFile),
  }
}
