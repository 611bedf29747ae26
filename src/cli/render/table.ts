import { cut, pad, textWidth } from './text-width.ts'

/** A column; `isElastic` is the one that gives way when the terminal is narrow. */
export type Column = { readonly title: string; readonly align?: 'right'; readonly isElastic?: true }

const gap = 2

/** Aligns rows under their titles; the elastic column is cut so that a line fits the width. */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number,
): string {
  const sizes = columns.map((column, i) =>
    Math.max(textWidth(column.title), ...rows.map((row) => textWidth(row[i] ?? ''))),
  )
  const total = sizes.reduce((sum, size) => sum + size, 0) + gap * (columns.length - 1)
  const elastic = columns.findIndex((column) => column.isElastic)
  if (elastic >= 0 && total > width) sizes[elastic] = Math.max(8, (sizes[elastic] ?? 0) - (total - width))
  const line = (cells: readonly string[]) =>
    columns
      .map((column, i) => {
        const size = sizes[i] ?? 0
        const text = column.isElastic ? cut(cells[i] ?? '', size) : (cells[i] ?? '')
        return column.align === 'right'
          ? ' '.repeat(Math.max(0, size - textWidth(text))) + text
          : pad(text, size)
      })
      .join(' '.repeat(gap))
      .trimEnd()
  return [line(columns.map((column) => column.title)), ...rows.map(line)].join('\n')
}
