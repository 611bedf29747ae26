import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { RowValue } from '../../contract/row-op.ts'

/** Where rows go, and which of its columns they fill. */
export type Target = { readonly table: string; readonly columns: readonly string[] }

// Most of the cost of a small row is the call, so rows go in by the dozen.
const sizes = [32, 8, 1] as const

/** Inserts rows, many to a statement. */
export class BulkInsert {
  readonly #statements: readonly StatementSync[]

  constructor(db: DatabaseSync, { table, columns }: Target) {
    const row = `(${columns.map(() => '?').join(', ')})`
    this.#statements = sizes.map((size) =>
      db.prepare(
        `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${Array.from({ length: size }, () => row).join(', ')}`,
      ),
    )
  }

  insert(rows: readonly (readonly RowValue[])[]): void {
    let at = 0
    for (const [i, size] of sizes.entries()) {
      const statement = this.#statements[i]
      for (; rows.length - at >= size; at += size) {
        const values: RowValue[] = []
        for (let k = at; k < at + size; k++) for (const value of rows[k] ?? []) values.push(value)
        statement?.run(...values)
      }
    }
  }
}
