import type { ExplanationView } from '../../contract/session-views.ts'
import type { View } from '../command-module.ts'
import { duration, shortDuration } from './figures.ts'
import { painter } from './paint.ts'
import { oneLine } from './safe-text.ts'
import { statusColour } from './session-lines.ts'
import { type Column, table } from './table.ts'
import { wrap } from './text-width.ts'

/** The verdict on a session, every signal behind it, and what would change it. */
export function renderExplanation(explained: ExplanationView, { width, color }: View): string {
  const paint = painter(color)
  const { status, activity, health, waiting_for, expires_in_ms, signals, would_change } = explained
  const verdict = [
    `${oneLine(explained.name)} (${explained.session_id})`,
    paint(statusColour(status), oneLine(status)),
    ...(activity === null ? [] : [oneLine(activity)]),
    ...(waiting_for === null ? [] : [oneLine(`waits for ${waiting_for}`)]),
    health === 'ok' ? health : paint('yellow', oneLine(health)),
    ...(expires_in_ms === null ? [] : [`holds ${duration(expires_in_ms / 1000)} more without news`]),
  ].join(' | ')
  const columns: readonly Column<(typeof signals)[number]>[] = [
    { title: 'SIGNAL', cell: ({ signal }) => oneLine(signal) },
    { title: 'SOURCE', cell: ({ source }) => oneLine(source) },
    { title: 'AGE', align: 'right', cell: ({ age_ms }) => shortDuration(age_ms / 1000) },
    { title: 'WEIGHT', align: 'right', cell: ({ weight }) => String(Number(weight.toFixed(2))) },
    { title: 'COUNTED', cell: ({ counted }) => (counted ? 'yes' : 'no') },
    { title: 'SAYS', isElastic: true, cell: ({ says }) => oneLine(says) },
  ]
  return [
    verdict,
    '',
    signals.length === 0 ? 'No signals.' : table(signals, columns, width),
    ...(would_change.length === 0 ? [] : ['', 'Would change:']),
    ...would_change.flatMap((change) =>
      wrap(oneLine(change), width - 4).map((line, i) => `${i ? '    ' : '  - '}${line}`),
    ),
  ].join('\n')
}
