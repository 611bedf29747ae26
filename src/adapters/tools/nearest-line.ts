import { cutText } from '../system/cut-text.ts'

const mostLines = 20_000
const mostChars = 300
/** Below it two lines have little in common. */
const leastLikeness = 0.4

/** The line of a file that is most like the first line of a text, when one is like it at all. */
export function nearestLine(
  content: string,
  text: string,
): { readonly number: number; readonly text: string } | undefined {
  const wanted = text.split('\n').find((line) => line.trim() !== '')
  if (wanted === undefined) return undefined
  const pairs = pairsOf(wanted)
  let best: { readonly number: number; readonly text: string } | undefined
  let bestLikeness = leastLikeness
  for (const [i, line] of content.split('\n', mostLines).entries()) {
    const likeness = likenessOf(pairs, pairsOf(line))
    if (likeness <= bestLikeness) continue
    bestLikeness = likeness
    best = { number: i + 1, text: cutText(line.replace(/\r$/, ''), mostChars) }
  }
  return best
}

/** Which two characters follow each other, however the line is indented. */
function pairsOf(line: string): ReadonlySet<string> {
  const text = cutText(line.trim().replaceAll(/\s+/g, ' '), mostChars)
  const pairs = new Set<string>()
  for (let i = 0; i < Math.max(1, text.length - 1); i++) pairs.add(text.slice(i, i + 2))
  return pairs
}

function likenessOf(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  let shared = 0
  for (const pair of one) if (other.has(pair)) shared += 1
  return (2 * shared) / (one.size + other.size)
}
