import type { CommandOutput } from '../../contract/cli/outputs.ts'
import type { View } from '../command-module.ts'
import { plural } from './amounts.ts'
import { oneLine } from './one-line.ts'
import { painter } from './paint.ts'

/** What a check of definition files found. */
export type CheckedDefinitions = Pick<CommandOutput<'agents check'>, 'problems' | 'shadowed'> & {
  readonly word: 'agent' | 'crew'
  readonly loaded: number
}

/** What is wrong with definition files, by place. */
export function renderCheckedDefinitions(
  { word, loaded, problems, shadowed }: CheckedDefinitions,
  { color }: View,
): string {
  const paint = painter(color)
  const errors = problems.filter(({ severity }) => severity === 'error')
  const skipped = new Set(errors.map(({ file }) => file)).size
  return [
    ...problems.map(({ file, line, severity, message }) => {
      const label = severity === 'error' ? paint('red', 'error') : paint('yellow', 'warning')
      return `${file}:${line}: ${label}: ${oneLine(message)}`
    }),
    ...shadowed.map(({ name, file, by }) => `${file}: ${name} is hidden by ${by}`),
    `${plural(loaded, word)} loaded, ${plural(skipped, 'file')} skipped, ${plural(problems.length - errors.length, 'warning')}.`,
  ].join('\n')
}
