import type { CommandOutput } from '../../contract/cli/outputs.ts'
import type { View } from '../command-module.ts'
import { painter } from './paint.ts'
import { shellQuote } from './shell-quote.ts'

/** What is left of the demonstration, and where to look; nothing when it was not played. */
export function renderDemo(demo: CommandOutput<'demo'>, { color }: View): string {
  if (!demo.played) return ''
  const paint = painter(color)
  const look = [
    [`sm workflow show ${demo.workflow_id}`, 'the report'],
    [
      shellQuote(['git', '-C', demo.repo, 'log', '--graph', '--oneline', demo.branch ?? '']),
      'what came of it',
    ],
    ...(demo.approval_id === null
      ? []
      : ([[`sm approve ${demo.session_id}`, `land ${demo.branch}; sm reject leaves it`]] as const)),
  ] as const
  const longest = Math.max(...look.map(([line]) => line.length))
  return [
    `${paint('bold', `${demo.verdict ?? 'it did not end well'}`)} after ${demo.rounds ?? 0} rounds ${paint('dim', '(no model was called)')}`,
    '',
    'Look at it',
    ...look.map(([line, does]) => `  ${line.padEnd(longest)}  ${paint('dim', does)}`),
  ].join('\n')
}
