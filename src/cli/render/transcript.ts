import type { CommandOutput } from '../../contract/cli/outputs.ts'
import type { View } from '../command-module.ts'
import { clock } from './clock.ts'
import { oneLine, plainLines } from './one-line.ts'
import { painter } from './paint.ts'

/** A conversation: who said what and when; further lines of one text are indented. */
export function renderTranscript({ entries }: CommandOutput<'tail'>, { now, color }: View): string {
  const paint = painter(color)
  return entries
    .map(({ at, who, text }) => {
      const head = `${paint('dim', `[${clock(at, now)}]`)} ${paint('cyan', oneLine(who))}:`
      return `${head} ${plainLines(text).trim().replaceAll('\n', '\n    ')}`.trimEnd()
    })
    .join('\n')
}
