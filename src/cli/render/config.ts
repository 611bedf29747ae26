import type { CommandOutput } from '../../contract/cli/outputs.ts'
import type { View } from '../command-module.ts'
import { oneLine } from './one-line.ts'
import { painter } from './paint.ts'
import { table } from './table.ts'

/** The settings in force as `key: value`. */
export function renderConfig({ values }: CommandOutput<'config show'>, { color }: View): string {
  const paint = painter(color)
  return values.map(({ key, value }) => `${paint('cyan', key)}: ${written(value)}`).join('\n')
}

/** The settings with the place that each was written at; files are numbered, so that their paths need no room. */
export function renderConfigOrigins({ values }: CommandOutput<'config show'>, { width }: View): string {
  const files: string[] = []
  const numberOf = (file: string): number => {
    if (!files.includes(file)) files.push(file)
    return files.indexOf(file) + 1
  }
  const rows = values.map(({ key, value, origin }) => [
    key,
    written(value),
    origin === 'default' ? 'default' : `[${numberOf(origin.file)}] line ${origin.line}`,
  ])
  const columns = [{ title: 'KEY' }, { title: 'VALUE', isElastic: true }, { title: 'ORIGIN' }] as const
  const legend = files.map((file, i) => `[${i + 1}] ${file}`)
  return [
    table(columns, rows, width),
    '',
    ...(files.length === 0 ? ['All of it is the default.'] : legend),
  ].join('\n')
}

function written(value: unknown): string {
  return oneLine(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
}
