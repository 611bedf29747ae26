import type { CommandOutput } from '../../contract/cli/outputs.ts'
import type { View } from '../command-module.ts'
import { plural } from './amounts.ts'
import { oneLine } from './one-line.ts'
import { painter } from './paint.ts'

/** What is wrong with session files, by place. */
export function renderValidations(files: CommandOutput<'log validate'>, { color }: View): string {
  const paint = painter(color)
  return files
    .flatMap(({ file, valid, errors, warnings }) => [
      `${file}: ${valid ? paint('green', 'valid') : paint('red', 'not valid')}${remarks(errors.length, warnings.length)}`,
      ...[...errors, ...warnings].map(({ path, severity, code, message }) => {
        const word = severity === 'error' ? paint('red', 'error') : paint('yellow', 'warning')
        return `  ${path === '' ? '/' : path}: ${word}: ${oneLine(message)} (${code})`
      }),
    ])
    .join('\n')
}

/** What became of each session file. */
export function renderLogImports(files: CommandOutput<'log import'>, { color }: View): string {
  const paint = painter(color)
  return files
    .map(({ file, shortId, events, repairs, duplicate, refused }) => {
      if (refused !== undefined) return `${file}: ${paint('red', 'refused')}: ${oneLine(refused.message)}`
      if (duplicate) return `${file}: here already, as ${shortId}`
      const mended = repairs.length === 0 ? '' : `, ${plural(repairs.length, 'repair')}`
      return `${file}: ${shortId} (${plural(events, 'event')}${mended})`
    })
    .join('\n')
}

/** A converted file: what was changed when it was written, the document itself when it was not. */
export function renderConversion({ document, repairs, written }: CommandOutput<'log migrate'>): string {
  if (written === undefined) return JSON.stringify(document, null, 2)
  return [
    ...repairs.map(({ path, message }) => `${path === '' ? '/' : path}: ${oneLine(message)}`),
    `${written} (${plural(repairs.length, 'repair')})`,
  ].join('\n')
}

function remarks(errors: number, warnings: number): string {
  const parts = [
    errors > 0 ? plural(errors, 'error') : '',
    warnings > 0 ? plural(warnings, 'warning') : '',
  ].filter(Boolean)
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`
}
