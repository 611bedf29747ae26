import { renderExplanation } from '../render/explanation.ts'
import { type Paint, painter } from '../render/paint.ts'
import { plainLines } from '../render/safe-text.ts'
import { clip, fold, ruled, within } from '../tui/lines.ts'
import { cardHead, cardHeadRows, cardLines } from './card.ts'
import { detailLines } from './detail-view.ts'
import { footerLines } from './footer-view.ts'
import { headerLine, titleLine } from './header-view.ts'
import { columnsFor, rowLine } from './list-view.ts'
import { approvalOf, type Card, type Overlay, type WatchModel } from './model.ts'
import { layoutOf } from './selection.ts'

const smallest = { columns: 30, rows: 8 }

/** The whole screen, line by line. */
export function paint(model: WatchModel): string[] {
  const { columns, rows } = model.size
  if (columns < smallest.columns || rows < smallest.rows)
    return Array.from({ length: rows }, (_, i) =>
      i === 0 ? clip('the terminal is too small for sm watch', columns) : '',
    )
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
  if (filter !== '') return ['', `  Nothing matches ${paint('cyan', `/${filter}`)}; Esc shows all.`]
  return [
    '',
    '  No sessions yet. In another terminal:',
    '',
    `    ${paint('cyan', 'sm spawn engineer "add a --dry-run flag"')}`,
    '',
    '  It appears here as soon as it starts.',
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

/** The lines of what lies over the list, all of them. */
export function overlayLines(overlay: Overlay, { size, color, now }: WatchModel): string[] {
  const width = size.columns - 2
  switch (overlay.what) {
    case 'help':
      return helpLines(painter(color))
    case 'explain':
      return overlay.explained === undefined
        ? ['…']
        : renderExplanation(overlay.explained, { width, now, color }).split('\n')
    case 'output':
      return overlay.lines === undefined ? ['…'] : printedLines(overlay.lines, width)
  }
}

function printedLines(lines: readonly string[], width: number): string[] {
  const shown = lines.flatMap((line) => fold(plainLines(line), width))
  return shown.length === 0 ? ['It has printed nothing.'] : shown
}

/** The title of what lies over the list. */
function overlayTitle(overlay: Overlay, paint: Paint, width: number): string {
  if (overlay.what === 'help') return paint('bold', 'Keys')
  const name = clip(overlay.name, width - 40)
  if (overlay.what === 'explain') return `${paint('bold', name)}: why it is in this state`
  const what = overlay.isOwn
    ? 'what was said and done'
    : overlay.isAlive
      ? 'its terminal, live'
      : 'its terminal is gone; the last saved screen'
  return `${paint('bold', name)}: ${what}`
}

const keyRows: readonly (readonly [string, string])[] = [
  ['j k ↓ ↑', 'move; g G first and last, PageUp PageDown, Ctrl-U Ctrl-D'],
  ['Tab', 'next session waiting for you'],
  ['Enter', 'attach to its terminal; Ctrl-Q or your detach key returns'],
  ['Space', 'reply: type a line, Enter sends it, Esc discards it'],
  ['y n', 'show its question: y allows, n denies, digits choose an answer'],
  ['i', 'interrupt what it is doing'],
  ['x x', 'end it and all below it'],
  ['o', 'peek at its terminal without attaching'],
  ['e', 'why Muster thinks it is in this state'],
  ['f ← →', 'fold and unfold; ▸ +5 !2 means five below it, two waiting for you'],
  ['/', 'filter by words; Esc shows all again'],
  ['q', 'quit, sessions keep running; Ctrl-Z to the background, Ctrl-L redraws'],
]

const signs: readonly (readonly [string, string])[] = [
  ['!', 'waiting for you: a permission, a question, a plan, an approval'],
  ['▲ ✗', 'rate-limited, stuck or crashed; ended with an error'],
  ['● ◌', 'working; just starting'],
  ['○', 'idle; a ? after a state means nothing has confirmed it for a while'],
  ['✓', 'done; marked new until you select it'],
]

/** All keys and signs. */
function helpLines(paint: Paint): string[] {
  const rows = (table: readonly (readonly [string, string])[]): string[] =>
    table.map(([key, does]) => `${paint('cyan', key.padEnd(10))}${does}`)
  return [
    ...rows(keyRows),
    '',
    ...rows(signs),
    'AGE since its start, LAST since its last activity, CTX how full its context is.',
    `Trees waiting for you come first. ${paint('red', 'Red names')} may do anything without asking.`,
  ]
}
