import { graphemeWidth } from '../render/grapheme-width.ts'
import { graphemes } from '../render/graphemes.ts'
import { painter } from '../render/paint.ts'
import { cut, textWidth } from '../render/text-width.ts'
import { type ChatModel, roomOf } from './model.ts'

/** Lines with the place of the cursor among them. */
export type Placed = {
  readonly lines: readonly string[]
  readonly cursor: { readonly row: number; readonly column: number }
}

const mostRows = 8
const indent = 2

/** What is being typed, over as many lines as it takes, with the cursor where it is. */
export function inputView(model: ChatModel, placeholder: string): Placed {
  const paint = painter(model.color)
  const width = roomOf(model) - indent
  const { before, after } = model.line
  const prompt = paint('cyan', '› ')
  if (before + after === '')
    return {
      lines: [prompt + paint('dim', cut(placeholder, width))],
      cursor: { row: 0, column: indent },
    }
  const head = hardLines(before, width)
  const all = hardLines(before + after, width)
  const row = head.length - 1
  const from = Math.max(0, Math.min(row - mostRows + 1, all.length - mostRows))
  return {
    lines: all.slice(from, from + mostRows).map((line, i) => (from + i === 0 ? prompt : '  ') + line),
    cursor: { row: row - from, column: indent + textWidth(head.at(-1) ?? '') },
  }
}

/** Lines of exactly the columns there are: where one ends does not depend on what comes after it. */
function hardLines(text: string, width: number): string[] {
  return text.split('\n').flatMap((line) => {
    const lines = ['']
    let used = 0
    for (const grapheme of graphemes(line)) {
      const wide = graphemeWidth(grapheme)
      if (used + wide > width) {
        lines.push('')
        used = 0
      }
      lines.push((lines.pop() ?? '') + grapheme)
      used += wide
    }
    return lines
  })
}
