import { bodyText } from '../../contract/body-text.ts'

/** At most `max` characters; a cut text ends in an ellipsis and never in half a character. */
export function clip(text: string, max: number): string {
  if (text.length <= max) return text
  const last = text.charCodeAt(max - 2)
  const end = last >= 0xd800 && last <= 0xdbff ? max - 2 : max - 1
  return `${text.slice(0, end)}…`
}

/** A body or any JSON as one line for a list, or undefined when there is nothing to show. */
export function oneLine(value: unknown, max = 200): string | undefined {
  const head = headOf(value, max * 4)
  const line = breaks.test(head) ? head.replace(/\s+/g, ' ').trim() : head
  return line === '' ? undefined : clip(line, max)
}

const breaks = /\s\s|[^\S ]|^ | $/

/** The beginning of a body or of the texts in any JSON: a title must not cost more for a long body. */
export function headOf(value: unknown, max: number): string {
  if (value === undefined) return ''
  const text = bodyText(value) ?? plainText(value, max)
  return text.length > max ? text.slice(0, max) : text
}

/** A preview of a body or of any JSON, with its line breaks. */
export function preview(value: unknown, max = 2048): string | undefined {
  const text = bodyText(value) ?? plainText(value, max)
  return text === '' ? undefined : clip(text, max)
}

/** The texts inside any JSON, in order, up to a length; blobs give their preview, vault names nothing. */
export function plainText(value: unknown, max: number): string {
  const parts: string[] = []
  collect(value, { parts, left: max, depth: 0 })
  return parts.join(' ')
}

type Walk = { readonly parts: string[]; left: number; depth: number }

function collect(value: unknown, walk: Walk): void {
  if (walk.left <= 0 || value === null || value === undefined) return
  const text = bodyText(value) ?? (typeof value === 'number' ? String(value) : undefined)
  if (text !== undefined) {
    const part = clip(text, Math.max(walk.left, 2))
    walk.parts.push(part)
    walk.left -= part.length + 1
    return
  }
  // A deep value would overflow the stack; nobody searches for what is nested this far.
  if (typeof value !== 'object' || walk.depth >= 12) return
  walk.depth++
  for (const [key, item] of Object.entries(value)) if (key !== 'vault') collect(item, walk)
  walk.depth--
}

/** A list as JSON of bounded length: whole items or none, so that it can be parsed again. */
export function listText(items: readonly string[], max = 2048): string {
  const kept: string[] = []
  let left = max
  for (const item of items) {
    const text = clip(item, 200)
    left -= text.length + 3
    if (left < 0) break
    kept.push(text)
  }
  return JSON.stringify(kept)
}
