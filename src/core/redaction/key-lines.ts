import { privateKey } from './private-key.ts'
import type { Span } from './spans.ts'

/** The parts of a private key whose lines stand in one list, as in the lines of a patch: by index. */
export function keyLineSpans(items: readonly unknown[]): ReadonlyMap<number, Span[]> {
  if (!items.some((item) => typeof item === 'string' && item.includes('-----BEGIN '))) return none
  const parts = new Map<number, Span[]>()
  const starts: number[] = []
  let joined = ''
  for (const item of items) {
    starts.push(joined.length)
    joined += `${typeof item === 'string' ? item : ''}\n`
  }
  privateKey.scan(joined, (start, end, secretClass) => {
    for (let i = starts.findLastIndex((at) => at <= start); i < starts.length && starts[i]! < end; i++) {
      const at = starts[i]!
      const length = (starts[i + 1] ?? joined.length) - 1 - at
      const part = {
        start: Math.max(start - at, 0),
        end: Math.min(end - at, length),
        class: secretClass,
        rank: 0,
      }
      parts.set(i, [...(parts.get(i) ?? []), part])
    }
  })
  return parts
}

const none: ReadonlyMap<number, Span[]> = new Map()
