import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { RowValue } from '../../contract/row-op.ts'
import { insertSql } from './insert-sql.ts'

/** A row in memory. Word columns hold numbers; the columns that changed are marked in two masks of 32. */
export type Row = {
  readonly values: RowValue[]
  isNew: boolean
  isTouched: boolean
  low: number
  high: number
}

/** The table rows are written to. */
export type RowTable = {
  readonly name: string
  readonly columns: readonly string[]
  readonly key: readonly string[]
}

type Shape = { readonly statement: StatementSync; readonly places: readonly number[] }

// Rows of one table change in few ways; a table whose rows do not would fill memory with statements.
const mostShapes = 500

/**
 * Writes rows with one statement for each set of columns that is written. Values that are null need not be
 * bound, and indexes of columns that did not change stay untouched.
 */
export class RowStatements {
  readonly #db: DatabaseSync
  readonly #table: RowTable
  readonly #inserts = new Map<number, Shape>()
  readonly #updates = new Map<number, Shape>()

  constructor(db: DatabaseSync, table: RowTable) {
    // A set of columns is one number.
    if (table.columns.length > 52) throw new RangeError(`${table.name} has more than 52 columns`)
    this.#db = db
    this.#table = table
  }

  /** Writes a row that is new or has marks, and takes the marks away. */
  write(row: Row): void {
    const set = row.high * 0x1_0000_0000 + (row.low >>> 0)
    if (row.isNew) run(row, this.#inserts.get(set) ?? this.#insertOf(row, set))
    else if (set !== 0) run(row, this.#updates.get(set) ?? this.#updateOf(row, set))
    row.isNew = false
    row.low = 0
    row.high = 0
  }

  #insertOf(row: Row, set: number): Shape {
    const { name, key } = this.#table
    const columns = [...new Set([...key, ...this.#marked(row)])]
    return this.#remember(this.#inserts, set, this.#shape(insertSql(name, columns), columns))
  }

  #updateOf(row: Row, set: number): Shape {
    const { name, key } = this.#table
    const columns = this.#marked(row)
    const sql = `UPDATE ${name} SET ${columns.map((column) => `${column} = ?`).join(', ')} WHERE ${byKey(key)}`
    return this.#remember(this.#updates, set, this.#shape(sql, [...columns, ...key]))
  }

  #shape(sql: string, columns: readonly string[]): Shape {
    const places = columns.map((column) => this.#table.columns.indexOf(column))
    return { statement: this.#db.prepare(sql), places }
  }

  #remember(known: Map<number, Shape>, set: number, shape: Shape): Shape {
    if (known.size >= mostShapes) known.clear()
    known.set(set, shape)
    return shape
  }

  #marked(row: Row): string[] {
    return this.#table.columns.filter((_, at) =>
      at < 32 ? row.low & (1 << at) : row.high & (1 << (at - 32)),
    )
  }
}

function run({ values }: Row, { statement, places }: Shape): void {
  const bound: RowValue[] = []
  for (const place of places) bound.push(values[place] ?? null)
  statement.run(...bound)
}

/** The condition that finds a row by its key. */
export const byKey = (key: readonly string[]): string => key.map((name) => `${name} = ?`).join(' AND ')
