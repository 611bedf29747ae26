import type { Client } from '../client/client.ts'
import type { CommandOutput } from '../contract/cli/outputs.ts'
import { type CommandInput, type CommandName, commands } from '../contract/cli.ts'
import type { JsonRouteName, RouteInput } from '../contract/routes.ts'
import type { Io } from './io.ts'

/** What a person's terminal is like; all that a renderer may know besides the data. */
export type View = { readonly width: number; readonly now: number; readonly color: boolean }

/** How the data of a command is shown, and what it means to a shell. */
type Shown<N extends CommandName> = {
  render(data: CommandOutput<N>, view: View, input: CommandInput<N>): string
  /** For data that is bad news: verification that found a fault, a failed check. */
  exitCode?(data: CommandOutput<N>): number
  /** On a terminal each value takes the place of the one before. */
  isRedrawn?(input: CommandInput<N>): boolean
}

/** A command that answers data: `--json` prints the data, people see what `render` makes of it. */
export type DataCommand<N extends CommandName> = Shown<N> & {
  run(input: CommandInput<N>, io: Io): Promise<CommandOutput<N>> | AsyncIterable<CommandOutput<N>>
}

/** A command that is one question to the route that its row of the table names. */
type RouteCommand<N extends CommandName> = Shown<N> & {
  /** The input of the route, made from the command line. */
  asks(input: CommandInput<N>, io: Io): RouteInput<RouteAnswering<N>> | Promise<RouteInput<RouteAnswering<N>>>
  readonly timeoutMs?: number
  /** What a person is told beside the data. */
  aside?(data: CommandOutput<N>): string | undefined
}

type RouteAnswering<N extends CommandName> = (typeof commands)[N] extends {
  readonly answers: infer R extends JsonRouteName
}
  ? R
  : never

/** A command whose output is lines in any case, too many or too slow to collect before they are printed. */
export type TextCommand<N extends CommandName> = {
  text(input: CommandInput<N>, io: Io): AsyncIterable<string>
}

export type CommandModule<N extends CommandName> = DataCommand<N> | TextCommand<N>

/** The commands of a family by their names: those that answer data, then those that print text. */
export function defineCommands<D extends CommandName, T extends CommandName = never>(
  data: { readonly [N in D]: DataCommand<N> | RouteCommand<N> },
  texts?: { readonly [N in T]: TextCommand<N> },
): { readonly [N in D]: DataCommand<N> } & { readonly [N in T]: TextCommand<N> } {
  const answering = Object.entries(data).map(([name, command]) => [
    name,
    'run' in (command as object) ? command : asking(name as CommandName, command as AnyRouteCommand),
  ])
  return { ...Object.fromEntries(answering), ...texts } as never
}

type AnyRouteCommand = {
  readonly asks: (input: unknown, io: Io) => object | Promise<object>
  readonly timeoutMs?: number
  readonly aside?: (data: unknown) => string | undefined
}

/** The table has matched the command with its route; here both have lost their names. */
function asking(name: CommandName, { asks, timeoutMs, aside, ...shown }: AnyRouteCommand): object {
  const run = async (input: unknown, io: Io): Promise<unknown> => {
    const asked = await asks(input, io)
    const client: Client = await (await io.daemon()).client()
    const { answers } = commands[name] as { readonly answers: 'getSession' }
    const data: unknown = await client[answers](asked as never, {
      signal: io.signal,
      ...(timeoutMs !== undefined && { timeoutMs }),
    })
    const told = io.isJson ? undefined : aside?.(data)
    if (told !== undefined) io.say(told)
    return data
  }
  return { ...shown, run }
}
