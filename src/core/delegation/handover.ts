/** How often control may go the same way while one prompt of a person is worked on. */
export const handoverLimit = 3

/** The circle that passing control on once more would close, when it went the same way too often before. */
export function handoverCircle(trail: readonly string[], to: string): readonly string[] | undefined {
  const from = trail.at(-1)
  const before = trail.filter((name, i) => name === from && trail[i + 1] === to).length
  if (before < handoverLimit) return undefined
  const start = trail.lastIndexOf(to)
  return [...trail.slice(Math.max(0, start)), to]
}
