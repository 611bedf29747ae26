import { wideRanges } from './wide-ranges.ts'

const plain = /^[\x20-\x7e]$/
/** What is drawn on or about another character, or not at all. */
const unseen = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}]+$/u
const asText = '\ufe0e'
const asPicture = '\ufe0f'
const flag = /^\p{RI}\p{RI}$/u
const picture = /\p{Extended_Pictographic}|\u20e3/u

/** How many columns one character as people see it takes, however many code points it has. */
export function graphemeWidth(grapheme: string): 0 | 1 | 2 {
  if (plain.test(grapheme)) return 1
  if (unseen.test(grapheme)) return 0
  if (flag.test(grapheme)) return 2
  if (grapheme.includes(asPicture) && picture.test(grapheme)) return 2
  const code = grapheme.codePointAt(0) ?? 0
  // A sign that says "as text" narrows only what could be a picture.
  if (grapheme.includes(asText) && picture.test(grapheme)) return 1
  return isWide(code) ? 2 : 1
}

function isWide(code: number): boolean {
  let low = 0
  let high = wideRanges.length / 2 - 1
  while (low <= high) {
    const middle = (low + high) >> 1
    if (code < (wideRanges[2 * middle] ?? 0)) high = middle - 1
    else if (code > (wideRanges[2 * middle + 1] ?? 0)) low = middle + 1
    else return true
  }
  return false
}
