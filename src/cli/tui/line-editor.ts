import { graphemes } from '../render/graphemes.ts'
import type { Paint } from '../render/paint.ts'
import { textWidth } from '../render/text-width.ts'
import { lineOf, type Piece, reversed, widthOfPieces } from './lines.ts'

/** A line that somebody types: what is before the cursor and what is after it. */
export type Line = { readonly before: string; readonly after: string }

export const emptyLine: Line = { before: '', after: '' }

export const textOf = ({ before, after }: Line): string => before + after

/** Puts a text in at the cursor; a line has no ends of lines in it. */
export function insert({ before, after }: Line, text: string): Line {
  return { before: before + text.replaceAll(/[\r\n\t]+/g, ' ').replaceAll(/\p{Cc}/gu, ''), after }
}

const edits: Readonly<Record<string, (line: Line) => Line>> = {
  '<left>': (line) => moved(line, -lastOf(line.before).length),
  '<right>': (line) => moved(line, firstOf(line.after).length),
  '<home>': ({ before, after }) => ({ before: '', after: before + after }),
  '<end>': ({ before, after }) => ({ before: before + after, after: '' }),
  '<bs>': ({ before, after }) => ({ before: before.slice(0, before.length - lastOf(before).length), after }),
  '<del>': ({ before, after }) => ({ before, after: after.slice(firstOf(after).length) }),
  '<c-w>': ({ before, after }) => ({ before: before.replace(/\S*\s*$/, ''), after }),
  '<c-u>': ({ after }) => ({ before: '', after }),
  '<c-k>': ({ before }) => ({ before, after: '' }),
}
const others: Readonly<Record<string, string>> = {
  '<c-a>': '<home>',
  '<c-e>': '<end>',
  '<c-b>': '<left>',
  '<c-f>': '<right>',
  '<c-d>': '<del>',
  '<c-h>': '<bs>',
  '<a-bs>': '<c-w>',
}

/** What a key makes of a line; a key that means nothing in it changes nothing. */
export function edit(line: Line, key: string): Line {
  const change = edits[others[key] ?? key]
  if (change) return change(line)
  return isCharacter(key) ? insert(line, key) : line
}

/** Whether a key is a character and no name of a key. */
export const isCharacter = (key: string): boolean => !(key.startsWith('<') && key.length > 1)

function moved(line: Line, by: number): Line {
  const text = textOf(line)
  const at = line.before.length + by
  return { before: text.slice(0, at), after: text.slice(at) }
}

// What people see as one character may be many code points, and is moved over and deleted as one.
function lastOf(text: string): string {
  return graphemes(text.slice(-64)).at(-1) ?? ''
}

function firstOf(text: string): string {
  return graphemes(text.slice(0, 64))[0] ?? ''
}

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
