import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { RowValue } from '../../contract/row-op.ts'
import { asRefusal } from './problem.ts'

// Filters combine in many ways; the statements of rare ones are made again.
const most = 200

/** The statements of a reader, each prepared once. */
export class Statements {
  readonly #db: DatabaseSync
  readonly #known = new Map<string, StatementSync>()

  constructor(db: DatabaseSync) {
    this.#db = db
  }

  objects(sql: string, values: readonly RowValue[] = []): Record<string, RowValue>[] {
    return this.#all(sql, values, false) as Record<string, RowValue>[]
  }

  arrays(sql: string, values: readonly RowValue[]): RowValue[][] {
    return this.#all(sql, values, true) as RowValue[][]
  }

  close(): void {
    this.#db.close()
  }

  #all(sql: string, values: readonly RowValue[], isArrays: boolean): unknown[] {
    try {
      return this.#statement(sql, isArrays).all(...values)
    } catch (error) {
      throw asRefusal(error)
    }
  }

  #statement(sql: string, isArrays: boolean): StatementSync {
    const known = this.#known.get(sql)
    if (known !== undefined) return known
    const statement = this.#db.prepare(sql)
    statement.setReturnArrays(isArrays)
    if (this.#known.size >= most) this.#known.clear()
    this.#known.set(sql, statement)
    return statement
  }
}
