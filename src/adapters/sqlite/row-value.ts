import type { RowOp, RowValue } from '../../contract/row-op.ts'

/** Throws when an operation holds what a row cannot: the event is parked before any of it is applied. */
export function checkOp(op: RowOp): void {
  if (op.op === 'erase') return checkAll(op.seqs)
  if (op.op === 'insert') return checkAll(op.row)
  checkAll(op.key)
  if (op.keep) checkAll(op.keep)
  if (op.set) checkAll(op.set)
  if (op.add) checkAll(op.add)
  if (op.max) checkAll(op.max)
}

function checkAll(values: object): void {
  for (const name in values) {
    const value: unknown = (values as Record<string, unknown>)[name]
    if (value === undefined || value === null || typeof value === 'string') continue
    if (typeof value !== 'number' || Number.isNaN(value)) {
      throw new TypeError(`${name} is ${String(value)}, which no row can hold`)
    }
  }
}

/** A value as it comes back from the file: otherwise a row in memory would differ from the same row read again. */
export function clean(value: RowValue): RowValue {
  if (typeof value === 'number') return safe(value)
  if (value === null) return null
  const whole = value.isWellFormed() ? value : value.toWellFormed()
  // SQLite's own text functions stop at a NUL.
  return whole.includes('\0') ? whole.replaceAll('\0', '\uFFFD') : whole
}

/** A number that can be read back: SQLite would keep a larger one as an integer that JavaScript cannot hold. */
export function safe(value: number): number {
  if (value > Number.MAX_SAFE_INTEGER) return Number.MAX_SAFE_INTEGER
  return value < -Number.MAX_SAFE_INTEGER ? -Number.MAX_SAFE_INTEGER : value
}
