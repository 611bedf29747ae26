import { eastAsianWidth } from 'get-east-asian-width'

const plain = /^[\x20-\x7e]$/
/** What is drawn on or about another character, or not at all. */
const unseen = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}]+$/u
const asText = '\ufe0e'
const asPicture = '\ufe0f'
const joiner = '\u200d'
const flag = /^\p{RI}\p{RI}$/u
const picture = /\p{Extended_Pictographic}|\u20e3/u
const hangul = /^\p{Script=Hangul}/u

/** How many columns one character as people see it takes, however many code points it has. */
export function graphemeWidth(grapheme: string): number {
  if (plain.test(grapheme)) return 1
  if (unseen.test(grapheme)) return 0
  if (grapheme.length === 1) return columns(grapheme)
  if (flag.test(grapheme)) return 2
  if (picture.test(grapheme)) {
    if (grapheme.includes(asPicture)) return 2
    return grapheme.includes(asText) ? 1 : columns(grapheme)
  }
  // The parts of a syllable share one square; what other scripts write together takes a column for each part.
  if (hangul.test(grapheme)) return columns(grapheme)
  const [shown = ''] = grapheme.split(joiner)
  return Array.from(shown, (part) => (unseen.test(part) ? 0 : columns(part))).reduce((a, b) => a + b, 0)
}

const columns = (text: string): number => eastAsianWidth(text.codePointAt(0) ?? 0)
