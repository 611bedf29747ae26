const begin = '\u001b[?2026h'
const end = '\u001b[?2026l'

/** What has to be written to turn one screen into another: only the lines that differ, in one piece. */
export function frameUpdate(shown: readonly string[] | undefined, wanted: readonly string[]): string {
  const isAnew = shown?.length !== wanted.length
  // Cleared before it is written: after a full line the cursor is still on its last column.
  const changed = wanted.flatMap((line, row) =>
    !isAnew && shown[row] === line ? [] : [`\u001b[${row + 1};1H\u001b[K${line}\u001b[0m`],
  )
  if (changed.length === 0 && !isAnew) return ''
  return begin + (isAnew ? '\u001b[0m\u001b[H\u001b[2J' : '') + changed.join('') + end
}
