import { harmless } from './safe-text.ts'
import { cut, pad, textWidth, wrap } from './text-width.ts'

/** A column of a table: its title, and what a row shows in it. */
export type Column<R> = {
  readonly title: string
  /** Its text, uncoloured; whatever it holds takes one line. */
  readonly cell: (row: R) => string
  readonly align?: 'right'
  /** Gives way where the terminal is narrow, the last such column first; it keeps so much while another can give way. */
  readonly isElastic?: true | { readonly keeps: number }
  /** Colours a cell; it is measured and cut before. */
  readonly paint?: (text: string, row: R) => string
}

const gap = 2
const least = 8

/** Rows under their titles, each line as wide as there is room. */
export function table<R>(rows: readonly R[], columns: readonly Column<R>[], width: number): string {
  const cells = rows.map((row) => columns.map(({ cell }) => harmless(cell(row))))
  const sizes = sizesOf(columns, cells, width)
  const line = (texts: readonly string[], row?: R): string =>
    columns
      .map(({ align, isElastic, paint }, i) => {
        const size = sizes[i] ?? 0
        const text = isElastic ? cut(texts[i] ?? '', size) : (texts[i] ?? '')
        const space = ' '.repeat(Math.max(0, size - textWidth(text)))
        const painted = row === undefined || paint === undefined ? text : paint(text, row)
        return align === 'right' ? space + painted : painted + space
      })
      .join(' '.repeat(gap))
      .trimEnd()
  return [line(columns.map(({ title }) => title)), ...rows.map((row, i) => line(cells[i] ?? [], row))].join(
    '\n',
  )
}

function sizesOf<R>(
  columns: readonly Column<R>[],
  cells: readonly (readonly string[])[],
  width: number,
): number[] {
  const sizes = columns.map(({ title }, i) =>
    Math.max(textWidth(title), ...cells.map((row) => textWidth(row[i] ?? ''))),
  )
  let over = sizes.reduce((sum, size) => sum + size, gap * (columns.length - 1)) - width
  const shrink = (i: number, to: number): void => {
    const given = Math.min(Math.max(0, over), Math.max(0, (sizes[i] ?? 0) - to))
    sizes[i] = (sizes[i] ?? 0) - given
    over -= given
  }
  const elastic = columns.flatMap(({ isElastic }, i) => (isElastic ? [{ i, isElastic }] : [])).reverse()
  for (const { i, isElastic } of elastic) shrink(i, isElastic === true ? least : isElastic.keeps)
  const [last] = elastic
  if (last !== undefined) shrink(last.i, least)
  return sizes
}

/** Terms and what is said of each, side by side in one line; one that is too long for the width goes on below itself. */
export function terms(
  rows: readonly (readonly [term: string, text: string])[],
  { width, indent = '  ', widest = Number.POSITIVE_INFINITY }: TermsLayout = {},
): string[] {
  const flat = rows.map(([term, text]) => [joined(term), joined(text)] as const)
  const size = Math.min(widest, Math.max(0, ...flat.map(([term]) => textWidth(term))))
  const left = indent.length + size + 2
  return flat.flatMap(([term, text]) => {
    const lines = width === undefined ? [text] : wrap(text, width - left)
    // A term that is too long for its column gets a line of its own.
    const isAlone = textWidth(term) > size
    const [first = '', ...more] = isAlone ? ['', ...lines] : lines
    return [`${indent}${pad(term, size)}  ${first}`.trimEnd(), ...more.map((line) => ' '.repeat(left) + line)]
  })
}

/** Lines as one; colours stay. */
const joined = (text: string): string => text.replaceAll(/\s*\n\s*/g, ' ')

type TermsLayout = {
  readonly width?: number
  readonly indent?: string
  /** How wide the column of the terms may be. */
  readonly widest?: number
}
