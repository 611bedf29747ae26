import { aboutOption, synopsis } from '../../src/cli/render/help.ts'
import { type CommandDefinition, commandGroups, valueUsage } from '../../src/contract/cli/command.ts'
import { commandOutputs } from '../../src/contract/cli/outputs.ts'
import { type CommandName, commandEntries, globalOptions } from '../../src/contract/cli.ts'
import { errorCodes } from '../../src/contract/errors.ts'
import { fieldTable, typeText } from './field-rows.ts'
import { code, markdownTable, page } from './markdown.ts'

const needs = {
  daemon: 'Starts the daemon when it is not running.',
  offline: 'Works without the daemon.',
  none: '',
} as const

/** The reference of `sm`: every command with its options, data and examples. */
export function cliPage(): string {
  const groups = Object.entries(commandGroups).map(([group, title]) => {
    const own = commandEntries.filter(([, command]) => command.group === group)
    return [title, own] as const
  })
  return page('Commands', [
    'Results go to stdout, everything else to stderr. Commands that stream print one JSON value per line with `--json`.',
    ['## Options for every command', optionTable(globalOptions)].join('\n\n'),
    ['## Exit codes', exitTable()].join('\n\n'),
    ...groups.flatMap(([title, own]) => [
      `## ${title}`,
      ...own.map(([name, command]) => section(name, command)),
    ]),
  ])
}

function section(name: CommandName, command: CommandDefinition): string {
  const arguments_ = Object.entries(command.arguments)
  const summary = `${command.summary.charAt(0).toUpperCase()}${command.summary.slice(1)}.`
  return [
    `### sm ${name}`,
    code(`sm ${synopsis(name, command)} [options]`),
    [summary, command.alias && `${code(`sm ${command.alias}`)} is the same.`, needs[command.needs]]
      .filter(Boolean)
      .join(' '),
    ...(arguments_.length === 0
      ? []
      : [
          markdownTable([
            ['argument', ''],
            ...arguments_.map(([argument, { about }]) => [code(argument), about]),
          ]),
        ]),
    ...(Object.keys(command.options).length === 0 ? [] : [optionTable(command.options)]),
    `${code('--json')} prints: ${typeText(commandOutputs[name], 'output')}.`,
    fieldTable(commandOutputs[name], 'output'),
    ['```sh', ...command.examples.map(({ line, does }) => `${line}  # ${does}`), '```'].join('\n'),
  ].join('\n\n')
}

function optionTable(options: CommandDefinition['options']): string {
  return markdownTable([
    ['option', '', 'default'],
    ...Object.entries(options).map(([name, option]) => [
      [option.short === undefined ? '' : code(`-${option.short}`), code(`--${name}${valueUsage(option)}`)]
        .filter(Boolean)
        .join(' '),
      aboutOption(option),
      option.default === undefined ? '' : String(option.default),
    ]),
  ])
}

function exitTable(): string {
  const byExit = Map.groupBy(Object.entries(errorCodes), ([, { exit }]) => exit)
  return markdownTable([
    ['exit', 'error codes'],
    ['0', 'none: it worked'],
    ...[...byExit].map(([exit, codes]) => [String(exit), codes.map(([name]) => code(name)).join(', ')]),
    ['130', 'none: it was interrupted'],
  ])
}
