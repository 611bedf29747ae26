import type { CommandOutput } from '../contract/cli/outputs.ts'
import type { CommandInput, CommandName } from '../contract/cli.ts'
import type { Io } from './io.ts'

/** What a person's terminal is like; all that a renderer may know besides the data. */
export type View = { readonly width: number; readonly now: number; readonly color: boolean }

/** A command that answers data: `--json` prints the data, people see what `render` makes of it. */
export type DataCommand<N extends CommandName> = {
  run(input: CommandInput<N>, io: Io): Promise<CommandOutput<N>> | AsyncIterable<CommandOutput<N>>
  render(data: CommandOutput<N>, view: View, input: CommandInput<N>): string
  /** For data that is bad news: verification that found a fault, a failed check. */
  exitCode?(data: CommandOutput<N>): number
  /** On a terminal each value takes the place of the one before. */
  isRedrawn?(input: CommandInput<N>): boolean
}

/** A command whose output is lines of JSON in any case, too many to parse only to print them again. */
export type TextCommand<N extends CommandName> = {
  text(input: CommandInput<N>, io: Io): AsyncIterable<string>
}

export type CommandModule<N extends CommandName> = DataCommand<N> | TextCommand<N>
