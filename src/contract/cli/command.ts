import type { JsonRouteName } from '../routes.ts'

/** Who a command is for; help shows the groups in this order. */
export const commandGroups = {
  people: 'For people',
  agents: 'For agents and scripts',
  maintenance: 'Maintenance',
} as const
export type CommandGroup = keyof typeof commandGroups

/** A word that the command takes by its place. */
export type Argument = {
  readonly about: string
  readonly takes: 'one' | 'optional' | 'many'
  /** The only words that are allowed; completions offer them. */
  readonly choices?: readonly string[]
  /** A path: completions offer file names. */
  readonly isFile?: true
  /** Words that somebody says; of all else nothing but blanks is a mistake, like a variable that a script never set. */
  readonly mayBeBlank?: true
}

/** Something that the command takes by name; without a value it is a switch. */
export type Option = {
  readonly about: string
  readonly short?: string
  /** What stands for the value in help, like `count`. */
  readonly value?: string
  /** A `count` is a whole number, an `amount` any above nothing. */
  readonly kind: 'switch' | 'text' | 'count' | 'amount' | 'file'
  readonly isMany?: true
  readonly default?: number
  /** The least that a number may be, and the most where there is one. */
  readonly range?: readonly [least: number, most?: number]
  /** The only words that are allowed; completions offer them. */
  readonly choices?: readonly string[]
  /** Words that completions offer, where others are allowed too. */
  readonly suggests?: readonly string[]
  /** As of an argument. */
  readonly mayBeBlank?: true
  /** What the option means without a value; a text value is then written with `=`, a number may also follow. */
  readonly bare?: string | number
}

/** How an option is written: `-n, --lines <count>`. */
export function optionUsage(name: string, option: Option): string {
  const short = option.short === undefined ? '    ' : `-${option.short}, `
  return `${short}--${name}${valueUsage(option)}`
}

/** How the value of an option is written; a text that may be left out needs its `=`. */
export function valueUsage({ value, bare, kind }: Option): string {
  if (value === undefined) return ''
  if (bare === undefined) return ` <${value}>`
  return kind === 'count' ? ` [${value}]` : `[=${value}]`
}

/** A line that works as it stands, and what it does. */
export type Example = { readonly line: string; readonly does: string }

/** One command of `sm` as data; the parser, help, completions and the reference page interpret it. */
export type CommandDefinition = {
  readonly group: CommandGroup
  readonly summary: string
  /** Another name for the same command. */
  readonly alias?: string
  /** `daemon` starts one when it is missing, `offline` works without one, `none` reads no state at all. */
  readonly needs: 'daemon' | 'offline' | 'none'
  /** The route whose answer `--json` prints; what no route answers has a schema in `outputs.ts`. */
  readonly answers?: JsonRouteName
  readonly arguments: Readonly<Record<string, Argument>>
  readonly options: Readonly<Record<string, Option>>
  readonly examples: readonly [Example, ...Example[]]
}

type Taken = 'arguments' | 'options'
type CommandRow = Omit<CommandDefinition, Taken> & Partial<Pick<CommandDefinition, Taken>>
type Complete<R extends CommandRow> = R & {
  readonly [T in Taken]: R extends { readonly [K in T]: infer Given } ? Given : Record<never, never>
}

/**
 * Declares a family of commands under their full names, like `journal verify`. A command that takes no arguments
 * or no options leaves them out.
 */
export const commandFamily = <const F extends Record<string, CommandRow>>(rows: F) =>
  Object.fromEntries(
    Object.entries(rows).map(([name, row]) => [name, { arguments: {}, options: {}, ...row }]),
  ) as { readonly [N in keyof F]: Complete<F[N]> }

/** What a parsed command line gives to a command: its arguments and options under their names. */
export type InputOf<C extends CommandDefinition> = {
  readonly [N in keyof C['arguments']]: ArgumentValue<C['arguments'][N]>
} & { readonly [N in keyof C['options']]: OptionValue<C['options'][N]> }

type ArgumentValue<A extends Argument> = A['takes'] extends 'many'
  ? readonly string[]
  : A['takes'] extends 'optional'
    ? string | undefined
    : string

type OptionValue<O extends Option> = O['kind'] extends 'switch'
  ? boolean
  : O extends { isMany: true }
    ? readonly Plain<O>[]
    : O extends { default: number }
      ? Plain<O>
      : Plain<O> | undefined

type Plain<O extends Option> = O['kind'] extends 'count' | 'amount'
  ? number
  : O extends { choices: readonly (infer Word)[] }
    ? Word
    : string
