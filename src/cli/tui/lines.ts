import { graphemeWidth } from '../render/grapheme-width.ts'
import { graphemes } from '../render/graphemes.ts'
import { type Colour, type Paint, painter } from '../render/paint.ts'
import { harmless, oneLine } from '../render/safe-text.ts'
import { textWidth } from '../render/text-width.ts'

/** A piece of a line: its text, and what it is drawn in. */
export type Piece = readonly [text: string, ...styles: Colour[]]

/** Pieces as one line that is exactly so wide; what does not fit is cut before it is coloured. */
export function lineOf(pieces: readonly Piece[], width: number, paint: Paint): string {
  let left = width
  let line = ''
  for (const [text, ...styles] of pieces) {
    if (left <= 0) break
    const shown = clip(harmless(text), left)
    left -= textWidth(shown)
    line += styles.reduce((inner, style) => paint(style, inner), shown)
  }
  return line + ' '.repeat(Math.max(0, left))
}

/** The same between pieces at the left and pieces at the right; those at the right give way. */
export function lineBetween(
  { left, right }: { left: readonly Piece[]; right: readonly Piece[] },
  width: number,
  paint: Paint,
): string {
  const used = widthOfPieces(left)
  const wanted = widthOfPieces(right)
  if (used + wanted + 1 > width) return lineOf(left, width, paint)
  return lineOf([...left, [' '.repeat(width - used - wanted)], ...right], width, paint)
}

export const widthOfPieces = (pieces: readonly Piece[]): number =>
  pieces.reduce((sum, [text]) => sum + textWidth(text), 0)

/** The bar that the cursor is; it shows without colours too. */
export const reversed = (text: string): string => painter(true)('reversed', text)

/** A line of its own with a title in it; both may be coloured. */
export function ruled(title: string, width: number, paint: Paint): string {
  const left = width - textWidth(title) - 4
  if (left < 0) return lineOf([[stripped(title)]], width, paint)
  return `${paint('dim', '──')} ${title} ${paint('dim', '─'.repeat(left))}`
}

/** A coloured line that fits a width: one that is too long loses its colours rather than being cut inside one. */
export function within(line: string, width: number): string {
  return textWidth(line) <= width ? line : clip(stripped(line), width)
}

const stripped = (line: string): string => line.replaceAll(/\p{Cc}\[[0-9;]*m/gu, '')

/** Makes an uncoloured text exactly so wide: cut with an ellipsis, or filled up with spaces. */
export function fit(text: string, width: number): string {
  const cut = clip(text, width)
  return cut + ' '.repeat(Math.max(0, width - textWidth(cut)))
}

/** The same with the text at the right. */
export function fitRight(text: string, width: number): string {
  const cut = clip(text, width)
  return ' '.repeat(Math.max(0, width - textWidth(cut))) + cut
}

/** Cuts an uncoloured text to at most so many columns. */
export function clip(text: string, width: number): string {
  if (width < 1) return ''
  // What is far longer than the width cannot fit, and must not be measured to its end.
  const near = text.length > width * 4 ? text.slice(0, width * 4) : text
  if (near.length === text.length && textWidth(text) <= width) return text
  let kept = ''
  let used = 0
  for (const grapheme of graphemes(near)) {
    used += graphemeWidth(grapheme)
    if (used > width - 1) break
    kept += grapheme
  }
  return `${kept.trimEnd()}…`
}

/** Breaks a text of any lines into lines of at most a width, keeping its own line ends and indentation. */
export function fold(text: string, width: number): string[] {
  return text.split('\n').flatMap((line) => foldLine(oneLineKept(line), Math.max(1, width)))
}

function foldLine(line: string, width: number): string[] {
  const { lines, rest } = broken(line, width)
  const whole = lines.map((one) => one.trimEnd())
  return rest === '' && lines.length > 0 ? whole : [...whole, rest]
}

/** Harmless like any text of a foreign hand, with the spaces that it begins with. */
function oneLineKept(line: string): string {
  const [indent = ''] = /^[ \t]*/.exec(line) ?? []
  return indent.replaceAll('\t', '  ') + oneLine(line)
}

/** Lines that will not change any more, and the beginning of the one that may go on. */
export type Flowed = { readonly lines: readonly string[]; readonly rest: string }

/** Breaks a text that is still growing into lines of a width; more text never changes a line that was given. */
export function flow(text: string, width: number): Flowed {
  const parts = text.split('\n')
  const last = parts.pop() ?? ''
  const whole = parts.flatMap((part) => {
    const { lines, rest } = broken(part, width)
    return rest === '' && lines.length > 0 ? lines : [...lines, rest]
  })
  const { lines, rest } = broken(last, width)
  return { lines: [...whole, ...lines].map((line) => line.trimEnd()), rest }
}

/** Cuts what is too long for a line off its front, at a space where one is near the end. */
function broken(line: string, width: number): Flowed {
  const lines: string[] = []
  let rest = line
  while (textWidth(rest) > width) {
    const taken = fitting(rest, width)
    const space = taken.lastIndexOf(' ')
    const at = space > width / 2 ? space + 1 : taken.length
    lines.push(rest.slice(0, at))
    rest = rest.slice(at)
  }
  return { lines, rest }
}

/** The longest beginning that fits; at least one character, so that a loop over it ends. */
function fitting(text: string, width: number): string {
  let used = 0
  let length = 0
  for (const grapheme of graphemes(text.slice(0, width * 8))) {
    used += graphemeWidth(grapheme)
    if (used > width && length > 0) break
    length += grapheme.length
  }
  return text.slice(0, length)
}
