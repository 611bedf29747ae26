import type { CommandInput, CommandName } from '../contract/cli.ts'
import type { Io } from './io.ts'

/** What a person's terminal is like; all that a renderer may know besides the data. */
export type View = { readonly width: number; readonly now: number; readonly color: boolean }

/** A command that answers data: `--json` prints the data, people see what `render` makes of it. */
export type DataCommand<N extends CommandName, D> = {
  run(input: CommandInput<N>, io: Io): Promise<D> | AsyncIterable<D>
  render(data: D, view: View): string
  /** For data that is bad news: verification that found a fault, a failed check. */
  exitCode?(data: D): number
}

/** A command whose output is a text in a format of its own, the same for people and programs. */
export type TextCommand<N extends CommandName> = {
  text(input: CommandInput<N>, io: Io): AsyncIterable<string>
}

/** Any command, once its data's type no longer matters. */
export type CommandModule<N extends CommandName> = DataCommand<N, never> | TextCommand<N>
