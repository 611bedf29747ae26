import { graphemeWidth } from '../render/grapheme-width.ts'
import { graphemes } from '../render/graphemes.ts'
import { textWidth } from '../render/text-width.ts'

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

// Controls of foreign hand could move the cursor or turn the direction of writing.
const control = /[^\P{Cc}\n]|[\u202a-\u202e\u2066-\u2069]/gu

/** Makes streamed text harmless and keeps its lines and indentation. */
export const harmless = (text: string): string => text.replaceAll('\t', '  ').replaceAll(control, '')

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
