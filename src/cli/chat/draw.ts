import { textWidth } from '../render/text-width.ts'
import type { Placed } from './input-view.ts'

const begin = '\u001b[?2026h\u001b[?25l'
const end = '\u001b[?25h\u001b[?2026l'

/** What stands at the end of the screen, as it was drawn. */
export type Drawn = Placed

/** What has to be written to put lines on the screen for good, and the changing end below them anew. */
export function drawing(
  drawn: Drawn | undefined,
  out: readonly string[],
  wanted: Placed | undefined,
): string {
  if (out.length === 0 && drawn !== undefined && wanted !== undefined && isSame(drawn, wanted)) return ''
  const up = drawn === undefined || drawn.cursor.row === 0 ? '' : `\u001b[${drawn.cursor.row}A`
  // Cleared before it is written: after a full line the cursor is still on its last column.
  const line = (text: string) => `\u001b[K${text}\u001b[0m`
  const kept = out.map((text) => `${line(text)}\r\n`).join('')
  const below = wanted === undefined ? '' : wanted.lines.map(line).join('\r\n')
  return `${begin}${up}\r${kept}${below}\u001b[J${wanted === undefined ? '' : placed(wanted)}${end}`
}

/** From the end of the last line to where the cursor belongs. */
function placed({ lines, cursor }: Placed): string {
  const back = lines.length - 1 - cursor.row
  return `${back > 0 ? `\u001b[${back}A` : ''}\r${cursor.column > 0 ? `\u001b[${cursor.column}C` : ''}`
}

/** What was drawn as it stands after the terminal became narrower: it has broken the lines that no longer fit. */
export function reflowed(drawn: Drawn | undefined, columns: number): Drawn | undefined {
  if (drawn === undefined) return undefined
  const rowsOf = (line: string) => Math.max(1, Math.ceil(textWidth(line) / Math.max(1, columns)))
  const above = drawn.lines.slice(0, drawn.cursor.row).reduce((sum, line) => sum + rowsOf(line), 0)
  const row = above + Math.floor(drawn.cursor.column / Math.max(1, columns))
  return { lines: [], cursor: { row, column: drawn.cursor.column } }
}

const isSame = (a: Placed, b: Placed): boolean =>
  a.cursor.row === b.cursor.row &&
  a.cursor.column === b.cursor.column &&
  a.lines.length === b.lines.length &&
  a.lines.every((line, i) => line === b.lines[i])
