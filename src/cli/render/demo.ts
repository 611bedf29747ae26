import type { CommandOutput } from '../../contract/cli/outputs.ts'
import type { View } from '../command-module.ts'
import { toolRow } from '../talk/tool-row.ts'
import { plainLines } from './one-line.ts'
import { painter } from './paint.ts'
import { shellQuote } from './shell-quote.ts'

/** What the demonstration did and where to look; nothing when it was not the first time. */
export function renderDemo({ answer, folder }: CommandOutput<'demo'>, { width, color }: View): string {
  if (answer === null) return ''
  const paint = painter(color)
  const { agent, status, session_id, text } = answer
  const rows = answer.tools.map(({ tool, target, status: result, duration_ms, reason }) =>
    toolRow(
      {
        tool,
        ...(target !== null && { target }),
        result: result === 'running' ? 'failed' : result,
        ...(duration_ms !== null && { durationMs: duration_ms }),
        ...(reason !== null && { reason }),
      },
      { width: width - 2, paint },
    ),
  )
  const look = [
    ['sm all', 'its session beside all others'],
    [`sm chat --session ${session_id}`, 'what was said; go on from there'],
    [shellQuote(['git', '-C', folder, 'diff']), 'what it changed'],
  ] as const
  const longest = Math.max(...look.map(([line]) => line.length))
  return [
    `${paint('bold', `A demonstration: ${agent} mends a small project`)} ${paint('dim', '(no model was called)')}`,
    ...rows.map((row) => `  ${row}`),
    ...(status === 'completed' ? [] : [`  ${paint('red', `it ${status}`)}`]),
    ...plainLines(text)
      .split('\n')
      .map((line) => `  ${line}`.trimEnd()),
    '',
    'Look at it',
    ...look.map(([line, does]) => `  ${line.padEnd(longest)}  ${paint('dim', does)}`),
  ].join('\n')
}
