import type { RowValue } from '../../contract/row-op.ts'

/** An operation that no row can take. The event that made it is parked. */
export class BadOp extends TypeError {
  override readonly name = 'BadOp'
}

/** A value as it comes back from the file: otherwise a row in memory would differ from the same row read again. */
export function clean(value: unknown): RowValue {
  if (typeof value === 'number') return safe(value)
  if (value === null) return null
  if (typeof value !== 'string') throw new BadOp(`a row cannot hold ${typeof value}`)
  const whole = value.isWellFormed() ? value : value.toWellFormed()
  // SQLite's own text functions stop at a NUL.
  return whole.includes('\0') ? whole.replaceAll('\0', '\uFFFD') : whole
}

/** A number that can be read back: SQLite would keep a larger one as an integer that JavaScript cannot hold. */
export function safe(value: number): number {
  if (Number.isNaN(value)) throw new BadOp('a row cannot hold NaN')
  if (value > Number.MAX_SAFE_INTEGER) return Number.MAX_SAFE_INTEGER
  return value < -Number.MAX_SAFE_INTEGER ? -Number.MAX_SAFE_INTEGER : value
}
