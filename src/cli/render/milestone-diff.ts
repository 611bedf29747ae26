import type { CommandOutput } from '../../contract/cli/outputs.ts'
import type { View } from '../command-module.ts'
import { count, plural } from './amounts.ts'
import { duration } from './durations.ts'
import { oneLine, plainLines } from './one-line.ts'
import { painter } from './paint.ts'

/** What changed between two milestones: figures, files, then the difference itself. */
export function renderMilestoneDiff(diff: CommandOutput<'checkpoint diff'>, { color }: View): string {
  const paint = painter(color)
  const { from, to, files, tokens, cost_usd, seconds } = diff
  const figures = [
    duration(seconds),
    ...(tokens === null ? [] : [`${count(tokens)} tokens`]),
    ...(cost_usd === null ? [] : [`$${cost_usd.toFixed(2)}`]),
    plural(files.length, 'file'),
  ].join(', ')
  const end = to === null ? 'now' : `${to.number} "${oneLine(to.message)}"`
  return [
    `${from.number} "${oneLine(from.message)}" → ${end}: ${figures}`,
    ...files.map(({ path, change, added, removed }) => {
      const lines = added === null || removed === null ? '' : ` +${count(added)} -${count(removed)}`
      return `  ${oneLine(change)} ${oneLine(path)}${lines}`
    }),
    ...(diff.diff === '' ? [] : ['', ...plainLines(diff.diff).trimEnd().split('\n').map(painted)]),
  ].join('\n')

  function painted(line: string): string {
    if (/^(\+\+\+|---|diff |index )/.test(line)) return paint('bold', line)
    if (line.startsWith('@@')) return paint('cyan', line)
    return line.startsWith('+') ? paint('green', line) : line.startsWith('-') ? paint('red', line) : line
  }
}
