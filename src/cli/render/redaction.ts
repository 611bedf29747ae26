import type { RedactionReport } from '../../contract/offline.ts'
import type { View } from '../command-module.ts'
import { plural } from './amounts.ts'
import { oneLine } from './one-line.ts'
import { painter } from './paint.ts'
import { cut } from './text-width.ts'

/** Each place that would be redacted, with its line as it would be stored. */
export function renderRedaction({ redacted, findings }: RedactionReport, { width, color }: View): string {
  const paint = painter(color)
  if (findings.length === 0) return 'Nothing would be redacted.'
  const lines = redacted.split('\n')
  const shown = findings.map(({ rule, line, column }) => {
    const place = `${line}:${column}: `
    const room = Math.max(10, width - place.length - rule.length - 2)
    return `${place}${paint('yellow', rule)}  ${cut(oneLine(lines[line - 1] ?? ''), room)}`.trimEnd()
  })
  return [...shown, `${plural(findings.length, 'place')} would be redacted.`].join('\n')
}
