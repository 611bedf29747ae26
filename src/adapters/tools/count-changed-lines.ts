/** How many lines came and went; a line that only moved counts as neither. */
export function countChangedLines(before: string, after: string) {
  const old = linesOf(before)
  const counts = new Map<string, number>()
  for (const line of old) counts.set(line, (counts.get(line) ?? 0) + 1)
  let added = 0
  for (const line of linesOf(after)) {
    const left = counts.get(line) ?? 0
    if (left === 0) added += 1
    else counts.set(line, left - 1)
  }
  const removed = [...counts.values()].reduce((sum, left) => sum + left, 0)
  return { linesAdded: added, linesRemoved: removed }
}

/** A newline at the end begins no further line. */
function linesOf(text: string): readonly string[] {
  if (text === '') return []
  return (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n')
}
