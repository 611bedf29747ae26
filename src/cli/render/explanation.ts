import type { ExplanationView } from '../../contract/session-views.ts'
import type { View } from '../command-module.ts'
import { duration } from './durations.ts'
import { oneLine } from './one-line.ts'
import { painter } from './paint.ts'
import { statusColour } from './session-line.ts'
import { table } from './table.ts'
import { wrap } from './text-width.ts'

/** The verdict on a session, every signal behind it, and what would change it. */
export function renderExplanation(explained: ExplanationView, { width, color }: View): string {
  const paint = painter(color)
  const { status, activity, health, waiting_for, expires_in_ms, signals, would_change } = explained
  const verdict = [
    `${oneLine(explained.name)} (${explained.session_id})`,
    paint(statusColour(status), status),
    ...(activity === null ? [] : [activity]),
    ...(waiting_for === null ? [] : [`waits for ${waiting_for}`]),
    health === 'ok' ? health : paint('yellow', health),
    ...(expires_in_ms === null ? [] : [`holds ${duration(expires_in_ms / 1000)} more without news`]),
  ].join(' | ')
  const rows = signals.map((one) => [
    oneLine(one.signal),
    oneLine(one.source),
    duration(one.age_ms / 1000),
    String(Number(one.weight.toFixed(2))),
    one.counted ? 'yes' : 'no',
    oneLine(one.says),
  ])
  const columns = [
    { title: 'SIGNAL' },
    { title: 'SOURCE' },
    { title: 'AGE', align: 'right' },
    { title: 'WEIGHT', align: 'right' },
    { title: 'COUNTED' },
    { title: 'SAYS', isElastic: true },
  ] as const
  return [
    verdict,
    '',
    signals.length === 0 ? 'No signals.' : table(columns, rows, width),
    ...(would_change.length === 0 ? [] : ['', 'Would change:']),
    ...would_change.flatMap((change) =>
      wrap(oneLine(change), width - 4).map((line, i) => `${i ? '    ' : '  - '}${line}`),
    ),
  ].join('\n')
}
