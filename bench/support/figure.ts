/** One measured figure, with the bound it must keep when there is one. */
export type Figure = {
  readonly what: string
  readonly value: number
  readonly unit: string
  readonly atLeast?: number
  readonly atMost?: number
}

export const holds = ({ value, atLeast, atMost }: Figure): boolean =>
  (atLeast === undefined || value >= atLeast) && (atMost === undefined || value <= atMost)

export const ratio = (
  what: string,
  value: number,
  bound: { atLeast?: number; atMost?: number } = {},
): Figure => ({
  what,
  value: Math.round(value * 1000) / 1000,
  unit: '×',
  ...bound,
})

export const rate = (what: string, count: number, ms: number, bound: { atLeast?: number } = {}): Figure => ({
  what,
  value: Math.round((count / ms) * 1000),
  unit: 'events/s',
  ...bound,
})

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
