import type { Fields } from './row-reader.ts'

/** Counters that nothing has counted are 0; unlike a sum of figures nobody gave, which stays null. */
export function counted(row: Fields, names: readonly string[]): void {
  for (const name of names) row[name] ??= 0
}

/** Billionths of a dollar back to dollars. */
export function priced(row: Fields): void {
  const nano = row['costNano']
  row['costUsd'] = typeof nano === 'number' ? nano / 1e9 : null
  delete row['costNano']
}

/** A list that was kept as JSON. */
export function list(value: unknown): string[] {
  return typeof value === 'string' ? (JSON.parse(value) as string[]) : []
}

/** A day number as a date. */
export function dateOf(day: unknown): string | null {
  return typeof day === 'number' ? new Date(day * 86_400_000).toISOString().slice(0, 10) : null
}

/** A date as a day number. */
export function dayOf(date: string): number {
  return Math.floor(Date.parse(date) / 86_400_000)
}

/** Empty words stand for "none" in keys, which cannot be null. */
export function noneIfEmpty(row: Fields, names: readonly string[]): void {
  for (const name of names) if (row[name] === '') row[name] = null
}

export const toolCounts = ['toolCompleted', 'toolFailed', 'toolDenied'] as const
export const callCounts = ['calls', 'unpriced'] as const
