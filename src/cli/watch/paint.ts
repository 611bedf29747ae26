import { painter } from '../render/paint.ts'
import { cardHead, cardHeadRows, cardLines } from './card-view.ts'
import { columnsFor } from './columns.ts'
import { detailLines } from './detail-view.ts'
import { clip } from './fit.ts'
import { footerLines } from './footer-view.ts'
import { headerLine, titleLine } from './header-view.ts'
import { ruled, within } from './ink.ts'
import { layoutOf } from './layout.ts'
import type { Card, Overlay, WatchModel } from './model.ts'
import { overlayLines, overlayTitle } from './overlay-view.ts'
import { approvalOf } from './pending.ts'
import { rowLine } from './row-view.ts'

const smallest = { columns: 30, rows: 8 }

/** The whole screen, line by line. */
export function paint(model: WatchModel): string[] {
  const { columns, rows } = model.size
  if (columns < smallest.columns || rows < smallest.rows)
    return Array.from({ length: rows }, (_, i) => (i === 0 ? clip('too small for sm watch', columns) : ''))
  return [headerLine(model), ...bodyLines(model), ...footerLines(model)]
}

function bodyLines(model: WatchModel): string[] {
  const { mode, size } = model
  const { body } = layoutOf(size)
  const lines =
    mode.kind === 'overlay'
      ? overlayBody(model, mode.overlay)
      : mode.kind === 'card' || mode.kind === 'words'
        ? cardBody(model, mode.card)
        : listBody(model)
  return Array.from({ length: body }, (_, i) => lines[i] ?? '')
}

function listBody(model: WatchModel): string[] {
  const { size, rows, offset, isLoaded, filter } = model
  const { list, detail } = layoutOf(size)
  const columns = columnsFor(rows, size.columns)
  const shown = rows.slice(offset, offset + list).map((row) => rowLine(model, row, columns))
  if (rows.length === 0 && isLoaded) return emptyLines(model, filter)
  const blank = Array.from({ length: list - shown.length }, () => '')
  const below = detail === 0 || rows.length === 0 ? [] : detailLines(model, detail)
  return [titleLine(model, columns), ...shown, ...blank, ...below]
}

function emptyLines({ color }: WatchModel, filter: string): string[] {
  const paint = painter(color)
  if (filter !== '') return ['', `  Nothing fits ${paint('cyan', `/${filter}`)}; Esc shows all.`]
  return [
    '',
    '  No sessions yet. In another terminal:',
    '',
    `    ${paint('cyan', 'sm spawn engineer "add a --dry-run flag"')}`,
    '',
    '  It shows here as soon as it starts.',
  ]
}

function overlayBody(model: WatchModel, overlay: Overlay): string[] {
  const { size, color } = model
  const room = layoutOf(size).body - 1
  const lines = overlayLines(overlay, model)
  const last = Math.max(0, lines.length - room)
  const from =
    overlay.what === 'output' ? last - Math.min(overlay.scroll, last) : Math.min(overlay.scroll, last)
  const part =
    lines.length > room ? `  ${from + 1}–${Math.min(lines.length, from + room)} of ${lines.length}` : ''
  const ink = painter(color)
  return [
    ruled(`${overlayTitle(overlay, ink, size.columns)}${ink('dim', part)}`, size.columns, ink),
    ...lines.slice(from, from + room).map((line) => ` ${within(line, size.columns - 1)}`),
  ]
}

function cardBody(model: WatchModel, card: Card): string[] {
  const { size, color, now } = model
  const approval = approvalOf(model, card)
  if (approval === undefined) return []
  const ink = painter(color)
  const room = layoutOf(size).body - cardHeadRows
  const lines = cardLines({ approval, card }, size.columns - 2, ink)
  const more = lines.length - room - card.scroll
  const shown = lines.slice(card.scroll, card.scroll + room).map((line) => ` ${line}`)
  if (more > 0) shown.splice(-1, 1, ink('cyan', ` ↓ ${more + 1} more lines: j`))
  return [ruled(cardHead({ approval, card }, now, ink), size.columns, ink), '', ...shown]
}
