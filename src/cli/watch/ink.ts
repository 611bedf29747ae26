import type { Colour, Paint } from '../render/paint.ts'
import { textWidth } from '../render/text-width.ts'
import { clip } from './fit.ts'

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

// Nothing of foreign hand may move the cursor, colour the screen or turn the direction of writing.
const control = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu
const harmless = (text: string): string => text.replaceAll(control, ' ')

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
export const reversed = (text: string): string => `\u001b[7m${text}\u001b[27m`

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
