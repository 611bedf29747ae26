import { graphemeWidth } from '../render/grapheme-width.ts'
import { graphemes } from '../render/graphemes.ts'
import { oneLine } from '../render/safe-text.ts'
import { textWidth } from '../render/text-width.ts'

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
  if (textWidth(line) <= width) return [line]
  const lines: string[] = []
  let rest = line
  while (textWidth(rest) > width) {
    const taken = take(rest, width)
    const space = taken.lastIndexOf(' ')
    const at = space > width / 2 ? space + 1 : taken.length
    lines.push(rest.slice(0, at).trimEnd())
    rest = rest.slice(at)
  }
  return rest === '' ? lines : [...lines, rest]
}

/** The longest beginning that fits; at least one character, so that a loop over it ends. */
function take(text: string, width: number): string {
  let used = 0
  let length = 0
  for (const grapheme of graphemes(text)) {
    used += graphemeWidth(grapheme)
    if (used > width && length > 0) break
    length += grapheme.length
  }
  return text.slice(0, length)
}

/** Harmless like any text of a foreign hand, with the spaces that it begins with. */
function oneLineKept(line: string): string {
  const [indent = ''] = /^[ \t]*/.exec(line) ?? []
  return indent.replaceAll('\t', '  ') + oneLine(line)
}
