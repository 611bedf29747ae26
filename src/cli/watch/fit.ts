import { oneLine } from '../render/one-line.ts'

// Two columns in every terminal: CJK, Hangul, kana, full-width forms, and what is drawn as a picture by itself.
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u
const joined = /[\p{Mn}\p{Me}\p{Cf}\ufe0f]/u
const plain = /^[\x20-\x7e]*$/

/** How many columns an uncoloured text takes. */
export function widthOf(text: string): number {
  if (plain.test(text)) return text.length
  let width = 0
  for (const character of text) width += columnsOf(character)
  return width
}

/** Makes an uncoloured text exactly so wide: cut with an ellipsis, or filled up with spaces. */
export function fit(text: string, width: number): string {
  const cut = clip(text, width)
  return cut + ' '.repeat(Math.max(0, width - widthOf(cut)))
}

/** The same with the text at the right. */
export function fitRight(text: string, width: number): string {
  const cut = clip(text, width)
  return ' '.repeat(Math.max(0, width - widthOf(cut))) + cut
}

/** Cuts an uncoloured text to at most so many columns. */
export function clip(text: string, width: number): string {
  if (width < 1) return ''
  // What is far longer than the width cannot fit, and must not be measured to its end.
  const near = text.length > width * 4 ? text.slice(0, width * 4) : text
  if (near.length === text.length && widthOf(text) <= width) return text
  let kept = ''
  let used = 0
  for (const character of near) {
    const columns = columnsOf(character)
    if (used + columns > width - 1) break
    used += columns
    kept += character
  }
  return `${kept.trimEnd()}…`
}

/** Breaks a text of any lines into lines of at most a width, keeping its own line ends and indentation. */
export function fold(text: string, width: number): string[] {
  return text.split('\n').flatMap((line) => foldLine(oneLineKept(line), Math.max(1, width)))
}

function foldLine(line: string, width: number): string[] {
  if (widthOf(line) <= width) return [line]
  const lines: string[] = []
  let rest = line
  while (widthOf(rest) > width) {
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
  for (const character of text) {
    used += columnsOf(character)
    if (used > width && length > 0) break
    length += character.length
  }
  return text.slice(0, length)
}

function columnsOf(character: string): number {
  if (plain.test(character)) return 1
  if (joined.test(character)) return 0
  return wide.test(character) ? 2 : 1
}

/** Harmless like any text of a foreign hand, with the spaces that it begins with. */
function oneLineKept(line: string): string {
  const [indent = ''] = /^[ \t]*/.exec(line) ?? []
  return indent.replaceAll('\t', '  ') + oneLine(line)
}
