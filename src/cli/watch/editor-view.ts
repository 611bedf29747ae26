import { graphemes } from '../render/graphemes.ts'
import type { Paint } from '../render/paint.ts'
import { textWidth } from '../render/text-width.ts'
import { lineOf, type Piece, reversed, widthOfPieces } from './ink.ts'
import type { Line } from './line-editor.ts'

/** A line being typed, moved along so that the cursor is on the screen. */
export function editorLine(
  prompt: readonly (string | Piece)[],
  { before, after }: Line,
  { width, paint }: { width: number; paint: Paint },
): string {
  const pieces = prompt.map((piece): Piece => (typeof piece === 'string' ? [piece] : piece))
  const room = Math.max(4, width - widthOfPieces(pieces) - 1)
  const tail = endOf(before, room - 1)
  const [under = ' ', ...rest] = graphemes(after)
  const left = room - textWidth(tail) - textWidth(under)
  return (
    lineOf([...pieces, [tail]], widthOfPieces(pieces) + textWidth(tail), paint) +
    reversed(under) +
    lineOf([[rest.join('')]], Math.max(0, left), paint)
  )
}

/** The end of a text that fits a width. */
function endOf(text: string, width: number): string {
  const characters = graphemes(text.slice(-4 * width))
  let from = characters.length
  for (let used = 0; from > 0; from--) {
    used += textWidth(characters[from - 1] ?? '')
    if (used > width) break
  }
  return characters.slice(from).join('')
}
