import type { Argument, CommandDefinition, Option } from '../../src/contract/cli/command.ts'
import { type CommandName, commandEntries } from '../../src/contract/cli.ts'

/** A command line that is wrong in one way. */
export type WrongCall = {
  readonly words: readonly string[]
  readonly name: CommandName
  /** How it is wrong, for the report. */
  readonly fault: string
  /** The exit codes that are right for it. */
  readonly exits: readonly number[]
}

/** What stands where a call is right, by the names of the table. */
export type RightWords = { readonly session: string; readonly file: string; readonly folder: string }

const huge = 'x'.repeat(100_000)
const names = {
  'an empty word': '',
  'a blank word': ' ',
  dots: '..',
  'a path': 'a/b?c#d',
  'an escaped path': '%2e%2e%2f',
  'a huge word': huge,
  'other scripts': '名前🙂é',
  'a word that turns around': '\u202egnp.exe',
  'several lines': 'one\ntwo\u001b[2J',
  'a large number': '99999999999999999999',
  'an id of its own kind': 'ses_00000000000000000000000000',
  'a property of every object': '__proto__',
} as const
const counts = ['', 'many', '-1', '0.5', '1e999', '99999999999999999999', '0x10', '٣'] as const
const files = {
  'a missing file': '/nowhere/at/all.json',
  'a folder below a file': '/dev/null/x.json',
  'a file of another user': '/proc/1/environ',
  'a file that is none': '/proc/self/mem',
  'a huge name': huge,
} as const

/** Words that people may choose freely: anything but a blank is right there. */
const free = new Set(
  'prompt text message reason request query answer event metadata name name-or-session'.split(' '),
)
/** What is free only here: which models a CLI has, only it knows; what is not started needs no folder; agents are made here. */
const freeHere: ReadonlySet<string> = new Set([
  'spawn --model',
  'spawn --working-dir',
  'spawn --args',
  'hook cli',
  'agents new --from',
])
const usage = [2] as const
/** Refused, by whoever is asked: there is none, it is taken, it may not be. */
const refused = [1, 2, 3, 4, 5] as const
const answered = [0, ...refused] as const

/** Every way in which each command of the table can be called wrongly. */
export function wrongCalls(right: RightWords): WrongCall[] {
  return commandEntries.flatMap(([name, row]) =>
    callsOf(row, right).map(({ at = '', ...call }) => ({
      ...call,
      name,
      words: [...name.split(' '), ...call.words],
      exits: call.exits === refused && freeHere.has(`${name} ${at}`) ? answered : call.exits,
    })),
  )
}

type Call = Omit<WrongCall, 'name'> & { readonly at?: string }

function callsOf(row: CommandDefinition, right: RightWords): Call[] {
  const given = Object.entries(row.arguments)
  const still = 'dry-run' in row.options ? ['--dry-run'] : []
  const needed = given
    .filter(([, { takes }]) => takes !== 'optional')
    .map(([name, one]) => rightWord(name, one, right))
  const calls: Call[] = [
    { words: [...needed, '--bogus'], fault: 'an unknown option', exits: usage },
    { words: [...needed, '-Z'], fault: 'an unknown letter', exits: usage },
  ]
  if (needed.length > 0) calls.push({ words: needed.slice(0, -1), fault: 'a missing argument', exits: usage })
  if (!given.some(([, { takes }]) => takes === 'many'))
    calls.push({
      words: [...given.map(([name, one]) => rightWord(name, one, right)), 'extra'],
      fault: 'an extra argument',
      exits: usage,
    })
  for (const [i, [name, argument]] of given.entries()) {
    const before = given.slice(0, i).map(([other, one]) => rightWord(other, one, right))
    const after = needed.slice(i + 1)
    for (const [fault, word, exits] of wrongWords(name, argument))
      calls.push({
        words: [...still, '--', ...before, word, ...after],
        fault: `${name}: ${fault}`,
        exits,
        at: name,
      })
  }
  for (const [name, option] of Object.entries(row.options))
    for (const [fault, words, exits] of wrongOptions(name, option))
      calls.push({
        words: [...still, ...needed, ...words],
        fault: `--${name}: ${fault}`,
        exits,
        at: `--${name}`,
      })
  return calls
}

function rightWord(name: string, { choices, isFile }: Argument, right: RightWords): string {
  if (choices) return choices[0] ?? ''
  if (name === 'path') return right.folder
  if (isFile) return right.file
  if (name.startsWith('session') || name === 'id' || name === 'run') return right.session
  if (name === 'agent-type') return 'shell'
  if (name === 'from') return '1'
  if (name === 'amounts') return '200k'
  return 'words'
}

/** A name that one call may take is not a name that another one looks for. */
const wordsFor = (name: string): [fault: string, word: string][] => [
  ...Object.entries(names),
  ['an unknown name', `no-${name}`],
]

type Wrong<T> = readonly [fault: string, what: T, exits: readonly number[]]

function wrongWords(name: string, argument: Argument): Wrong<string>[] {
  const { isFile, choices, mayBeBlank } = argument
  if (isFile)
    return [
      ['an empty word', '', usage],
      ...Object.entries(files).map(([fault, file]): Wrong<string> => [fault, file, refused]),
    ]
  return wordsFor(name).map(([fault, word]) => {
    const isBlank = word.trim() === '' && !mayBeBlank
    return [fault, word, choices || isBlank ? usage : free.has(name) ? answered : refused]
  })
}

function wrongOptions(name: string, option: Option): Wrong<string[]>[] {
  const flag = `--${name}`
  if (option.kind === 'switch') return [['a value for a switch', [`${flag}=yes`], usage]]
  const missing: Wrong<string[]>[] = option.bare === undefined ? [['no value', [flag], usage]] : []
  if (option.kind === 'count' || option.kind === 'amount') {
    const wrong = counts.filter(
      (word) => !(option.kind === 'amount' && word === '0.5') && !(word === '' && option.bare !== undefined),
    )
    return [...missing, ...wrong.map((word): Wrong<string[]> => [`'${word}'`, [`${flag}=${word}`], usage])]
  }
  if (option.kind === 'file')
    return [
      ...missing,
      ['an empty word', [`${flag}=`], usage],
      ...Object.entries(files).map(([fault, file]): Wrong<string[]> => [fault, [flag, file], refused]),
    ]
  const wrong = wordsFor(name).filter(([, word]) => !(word === '' && option.bare !== undefined))
  return [
    ...missing,
    ...wrong.map(([fault, word]): Wrong<string[]> => {
      const isBlank = word.trim() === '' && !option.mayBeBlank
      const exits = option.choices || isBlank ? usage : free.has(name) ? answered : refused
      return [fault, [`${flag}=${word}`], exits]
    }),
  ]
}
