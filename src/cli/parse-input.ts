import { Command, CommanderError, Option as CommanderOption, InvalidArgumentError } from 'commander'
import { type CommandDefinition, type Option, optionUsage } from '../contract/cli/command.ts'
import { type CommandName, commands, globalOptions } from '../contract/cli.ts'
import { AppError } from '../contract/errors.ts'

/** Reads what follows the name of a command by its definition. */
export function parseInput(name: CommandName, words: readonly string[]): Record<string, unknown> {
  const definition: CommandDefinition = commands[name]
  const command = parserOf(name, definition)
  try {
    command.parse(withBareOptions(words, definition.options), { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    throw new AppError('invalid', `${tidy(error.message)} See: sm help ${name}`, { cause: error })
  }
  const given = command.opts<Record<string, unknown>>()
  const options = Object.keys(definition.options).map((option) => [option, given[camelCase(option)]])
  const values = Object.keys(definition.arguments).map((argument, i) => [argument, command.processedArgs[i]])
  return Object.fromEntries([...options, ...values])
}

// Commander would take whatever comes next for the value; a prompt after `--wait` is no number of seconds.
function withBareOptions(words: readonly string[], options: CommandDefinition['options']): string[] {
  const end = words.indexOf('--')
  return words.map((word, i) => {
    const option = word.startsWith('--') && (end === -1 || i < end) ? options[word.slice(2)] : undefined
    if (option?.bare === undefined) return word
    return option.kind === 'count' && /^\d+$/.test(words[i + 1] ?? '') ? word : `${word}=`
  })
}

// Commander keeps `--set-aside` as setAside; the table knows it by the name that people type.
function camelCase(option: string): string {
  return option.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
}

function parserOf(name: string, definition: CommandDefinition): Command {
  const command = new Command(name)
    .exitOverride()
    .configureOutput({ writeErr: () => {}, writeOut: () => {} })
    .helpOption(false)
    .allowExcessArguments(false)
    .option('--no-color')
    .action(() => {})
  for (const [argument, { takes, choices, ...rest }] of Object.entries(definition.arguments)) {
    const usage = takes === 'one' ? `<${argument}>` : takes === 'many' ? `<${argument}...>` : `[${argument}]`
    command.argument(usage, '', (value: string, before: unknown) => {
      if (!rest.mayBeBlank) refuseBlank(value)
      if (choices !== undefined && !choices.includes(value)) {
        throw new InvalidArgumentError(`It must be one of ${choices.join(', ')}`)
      }
      return takes === 'many' ? [...((before as string[] | undefined) ?? []), value] : value
    })
  }
  for (const [option, details] of Object.entries({ ...globalOptions, ...definition.options })) {
    command.addOption(optionOf(option, details))
  }
  return command
}

function optionOf(name: string, option: Option): CommanderOption {
  const made = new CommanderOption(
    option.bare === undefined ? optionUsage(name, option).trim() : `--${name} [${option.value}]`,
  )
  if (option.kind === 'switch') return made.default(false)
  if (option.isMany) made.default([])
  else if (option.default !== undefined) made.default(option.default)
  return made.argParser((text: string, before: unknown) => {
    const value = text === '' && option.bare !== undefined ? option.bare : valueOf(text, option)
    return option.isMany ? [...(before as unknown[]), value] : value
  })
}

// Left to itself it would name nothing, everything, or the session that this runs in.
function refuseBlank(value: string): void {
  if (value.trim() === '') throw new InvalidArgumentError('It must not be empty')
}

function valueOf(text: string, { kind, choices, range, mayBeBlank }: Option): string | number {
  if (choices !== undefined && !choices.includes(text)) {
    throw new InvalidArgumentError(`It must be one of ${choices.join(', ')}`)
  }
  if (kind === 'amount') return amountOf(text)
  if (kind !== 'count' && !mayBeBlank) refuseBlank(text)
  return kind === 'count' ? countOf(text, range) : text
}

function amountOf(text: string): number {
  const value = Number(text)
  if (!/^\d+(\.\d+)?$/.test(text) || value <= 0 || value > Number.MAX_SAFE_INTEGER)
    throw new InvalidArgumentError('It must be a number above 0, like 5 or 0.50')
  return value
}

function countOf(text: string, [least, most]: NonNullable<Option['range']> = [0]): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value))
    throw new InvalidArgumentError('It must be a whole number')
  if (value < least || value > (most ?? value))
    throw new InvalidArgumentError(
      most === undefined ? `It must be ${least} or more` : `It must be a number from ${least} to ${most}`,
    )
  return value
}

function tidy(message: string): string {
  const [said = '', hint] = message.replace(/^error: /, '').split('\n(Did you mean ')
  const text = said
    .trim()
    .replace(/\.$/, '')
    .replace(/^option '(?:-\w, )?(--[\w-]+)[^']*' argument missing/, '$1 needs a value')
    .replace(/^option '(?:-\w, )?(--[\w-]+)[^']*' argument ('.*?') is invalid/s, '$1 cannot be $2')
    .replace(/^command-argument value ('.*?') is invalid for argument '(.+?)'/s, '$1 is not a valid $2')
  return hint === undefined ? `${text}.` : `${text}; did you mean ${hint.replace(/\)$/, '')}`
}
