import {
  type CommandDefinition,
  type CommandGroup,
  commandGroups,
  type Option,
  optionUsage,
} from '../../contract/cli/command.ts'
import { type CommandName, commandEntries, commands, globalOptions } from '../../contract/cli.ts'
import { terms } from './table.ts'

const lineWidth = 80

/** The help of `sm` itself: every command, by whom it is for. */
export function rootHelp(): string {
  const groups = (Object.keys(commandGroups) as CommandGroup[]).map((group) => ({
    title: commandGroups[group],
    rows: commandEntries
      .filter(([, command]) => command.group === group)
      .map(([name, command]) => [synopsis(name, command), command.summary] as const),
  }))
  return page([
    'Usage: sm <command> [options]',
    'Muster runs a crew of coding agents as one session tree.',
    ...groups.filter((group) => group.rows.length > 0).map((group) => section(group.title, group.rows)),
    section('Options for every command', optionRows(globalOptions)),
    'Run sm help <command> for details and examples.',
  ])
}

/** The help of a family like `sm journal`. */
export function familyHelp(family: string): string {
  const rows = commandEntries
    .filter(([name]) => name.startsWith(`${family} `))
    .map(([name, command]) => [synopsis(name, command), command.summary] as const)
  return page([`Usage: sm ${family} <command> [options]`, section('Commands', rows)])
}

/** The help of one command. */
export function commandHelp(name: CommandName): string {
  const command: CommandDefinition = commands[name]
  const arguments_ = Object.entries(command.arguments).map(
    ([argument, { about, choices }]) =>
      [argument, choices === undefined ? about : `${about}: ${choices.join(', ')}`] as const,
  )
  const options = optionRows(command.options)
  return page([
    `Usage: sm ${synopsis(name, command)} [options]`,
    `${command.summary.charAt(0).toUpperCase()}${command.summary.slice(1)}.`,
    ...(command.alias === undefined ? [] : [`Alias: sm ${command.alias}`]),
    ...(arguments_.length === 0 ? [] : [section('Arguments', arguments_)]),
    ...(options.length === 0 ? [] : [section('Options', options)]),
    section('Options for every command', optionRows(globalOptions)),
    ['Examples', ...command.examples.flatMap(({ line, does }) => [`  ${line}`, `      ${does}`])].join('\n'),
  ])
}

/** The name of a command with what it takes: `journal import <file>`. */
export function synopsis(name: CommandName, command: CommandDefinition): string {
  const words = Object.entries(command.arguments).map(([argument, { takes }]) =>
    takes === 'one' ? `<${argument}>` : takes === 'many' ? `<${argument}…>` : `[${argument}]`,
  )
  return [name, ...words].join(' ')
}

/** What an option does, with the words that it takes. */
export function aboutOption({ about, choices }: Option): string {
  return choices === undefined ? about : `${about}: ${choices.join(', ')}`
}

function optionRows(options: Readonly<Record<string, Option>>): (readonly [string, string])[] {
  return Object.entries(options).map(([name, option]) => [
    optionUsage(name, option),
    option.default === undefined ? aboutOption(option) : `${aboutOption(option)} (${option.default})`,
  ])
}

function page(parts: readonly string[]): string {
  return parts.join('\n\n')
}

function section(title: string, rows: readonly (readonly [string, string])[]): string {
  return [title, ...terms(rows, { width: lineWidth, widest: 34 })].join('\n')
}
