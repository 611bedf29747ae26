import { graphemeWidth } from './grapheme-width.ts'
import { graphemes } from './graphemes.ts'

const escapes = /\p{Cc}\[[0-9;]*m/gu
/** Letters and signs that take one column each and never join: Latin, dashes, dots, arrows, boxes, blocks. */
const plain = /^[\x20-\x7e\xa1-\xac\xae-\u02ff\u2010-\u2027\u2190-\u2199\u2500-\u259f]*$/

/** How many columns a text takes in a terminal; colours take none. */
export function textWidth(text: string): number {
  if (plain.test(text)) return text.length
  const bare = text.replaceAll(escapes, '')
  if (plain.test(bare)) return bare.length
  let width = 0
  for (const grapheme of graphemes(bare)) width += graphemeWidth(grapheme)
  return width
}

/** Pads a text to a width with spaces. */
export function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - textWidth(text)))
}

/** Cuts an uncoloured text to a width and says so with an ellipsis. */
export function cut(text: string, width: number): string {
  if (textWidth(text) <= width) return text
  let kept = ''
  let used = 0
  for (const grapheme of graphemes(text)) {
    used += graphemeWidth(grapheme)
    if (used > width - 1) break
    kept += grapheme
  }
  return width < 1 ? '' : `${kept.trimEnd()}…`
}

/** Breaks a text into lines of at most a width, at spaces where there are any. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(/\s+/).flatMap((long) => pieces(long, width))) {
    const next = line === '' ? word : `${line} ${word}`
    if (textWidth(next) > width && line !== '') {
      lines.push(line)
      line = word
    } else line = next
  }
  if (line !== '') lines.push(line)
  return lines
}

function pieces(word: string, width: number): string[] {
  const found: string[] = ['']
  for (const grapheme of graphemes(word)) {
    const last = found.at(-1) ?? ''
    if (last !== '' && textWidth(last + grapheme) > width) found.push(grapheme)
    else found.splice(-1, 1, last + grapheme)
  }
  return found
}
