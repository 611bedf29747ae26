import type { DoctorReport } from '../../contract/offline.ts'
import type { View } from '../command-module.ts'
import { plural } from './amounts.ts'
import { oneLine } from './one-line.ts'
import { type Colour, painter } from './paint.ts'
import { pad, textWidth, wrap } from './text-width.ts'

const marks = {
  ok: ['ok', 'green'],
  warning: ['warning', 'yellow'],
  failed: ['FAILED', 'red'],
} as const satisfies Record<string, readonly [string, Colour]>

/** The doctor's findings: one line each, the cure under what is not well. */
export function renderChecks({ daemon, checks }: DoctorReport, { width, color }: View): string {
  const paint = painter(color)
  const nameWidth = Math.max(0, ...checks.map(({ name }) => textWidth(name)))
  const indent = 9 + nameWidth + 2
  const lines = checks.flatMap(({ name, status, detail, cure }) => {
    const [word, colour] = marks[status]
    const [first = '', ...rest] = wrap(oneLine(detail), Math.max(20, width - indent))
    return [
      `${paint(colour, pad(word, 7))}  ${pad(name, nameWidth)}  ${first}`.trimEnd(),
      ...rest.map((line) => `${' '.repeat(indent)}${line}`),
      ...(cure === undefined || status === 'ok'
        ? []
        : wrap(`→ ${oneLine(cure)}`, Math.max(20, width - indent)).map(
            (line) => `${' '.repeat(indent)}${line}`,
          )),
    ]
  })
  const bad = checks.filter(({ status }) => status === 'failed').length
  const doubtful = checks.filter(({ status }) => status === 'warning').length
  const verdict =
    bad + doubtful === 0
      ? 'All is well'
      : [bad > 0 ? plural(bad, 'failure') : '', doubtful > 0 ? plural(doubtful, 'warning') : '']
          .filter(Boolean)
          .join(', ')
  return [...lines, '', `${verdict}; the daemon is ${daemon}.`].join('\n')
}
