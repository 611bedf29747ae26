import type { CommandOutput } from '../../contract/cli/outputs.ts'
import type { View } from '../command-module.ts'
import { oneLine } from './one-line.ts'
import { type Colour, painter } from './paint.ts'
import { pad, textWidth, wrap } from './text-width.ts'

const colours: Readonly<Record<string, Colour>> = {
  running: 'green',
  restored: 'green',
  'needs you': 'yellow',
  gone: 'red',
}

/** What became of each session, and why. */
export function renderRestored({ sessions }: CommandOutput<'restore'>, { width, color }: View): string {
  const paint = painter(color)
  if (sessions.length === 0) return 'There was nothing to restore.'
  const titles = sessions.map(({ name, session_id }) => `${oneLine(name)} (${session_id})`)
  const titleWidth = Math.max(...titles.map(textWidth))
  const indent = titleWidth + 2 + 9 + 2
  const lines = sessions.flatMap(({ result, why }, i) => {
    const [first = '', ...rest] = wrap(oneLine(why), Math.max(20, width - indent))
    const head = `${pad(titles[i] ?? '', titleWidth)}  ${pad(paint(colours[result] ?? 'dim', result), 9)}  ${first}`
    return [head.trimEnd(), ...rest.map((line) => `${' '.repeat(indent)}${line}`)]
  })
  const totals = Object.keys(colours).flatMap((result) => {
    const found = sessions.filter((session) => session.result === result).length
    return found === 0 ? [] : [`${found} ${result}`]
  })
  return [...lines, '', `${totals.join(', ')}.`].join('\n')
}
