import type { Argument, CommandDefinition, Option } from './command.ts'

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
