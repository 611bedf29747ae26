/** Evidence is kept for as long as a session lives, so everything in it has a size. */
export const bounds = { calls: 48, asks: 12, agents: 32, limits: 8, line: 200, text: 4000 } as const

/** A short text: names, ids, titles, errors. */
export const line = (text: string): string => (text.length > bounds.line ? text.slice(0, bounds.line) : text)

const head = 1500
const gap = '\n…\n'

/** A message with its beginning and its end; what it claims stands in one of them. */
export const message = (text: string): string =>
  text.length > bounds.text
    ? `${text.slice(0, head)}${gap}${text.slice(text.length - (bounds.text - head - gap.length))}`
    : text

/** The newest entries, in a fixed order: the same set gives the same list, in whatever order it came. */
export function newest<T>(
  entries: readonly T[],
  limit: number,
  order: { readonly at: (entry: T) => number; readonly key: (entry: T) => string },
): readonly T[] {
  const { at, key } = order
  return entries.toSorted((a, b) => at(b) - at(a) || (key(a) < key(b) ? -1 : 1)).slice(0, limit)
}
