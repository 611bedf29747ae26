const border = '│'

/**
 * The lines without the panel that newer versions draw at their right once files have changed. The box goes below it
 * from edge to edge; a dialog and the conversation are beside it.
 */
export function withoutSidePanel(lines: readonly string[]): readonly string[] {
  const column = /^.*(?=│ +✕ *$)/.exec(lines[0] ?? '')?.[0].length
  if (column === undefined) return lines
  // A wide character takes two columns and is one of a line, so the border may stand further to the left.
  const at = lines.map((line) => line.lastIndexOf(border, column))
  const end = at.findIndex((place) => place < 0)
  return lines.map((line, i) => (end < 0 || i < end ? line.slice(0, at[i]).trimEnd() : line))
}
