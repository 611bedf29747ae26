import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { type TableName, tables } from '../../contract/index-tables.ts'
import type { RowValue } from '../../contract/row-op.ts'
import { asRefusal } from './problem.ts'
import { WordReader } from './words.ts'

/** A row of a table with its words as text. */
export type Fields = Record<string, RowValue>

/** Which rows of a table, in which order. */
export type Selection = {
  readonly table: TableName
  /** Conditions that all hold; each `?` takes the next value. */
  readonly where?: readonly (Condition | undefined)[]
  readonly order: string
  readonly limit: number
}

/** A piece of SQL and its values. */
export type Condition = { readonly sql: string; readonly values: readonly RowValue[] }

// Filters combine in many ways; the statements of rare ones are made again.
const mostStatements = 200

/** Reads rows; every statement is prepared once. */
export class RowReader {
  readonly words: WordReader
  readonly #db: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()

  constructor(db: DatabaseSync) {
    this.#db = db
    this.words = new WordReader(db)
  }

  select({ table, where = [], order, limit }: Selection): Fields[] {
    const conditions = where.filter((condition) => condition !== undefined)
    const tests = conditions.map((condition) => `(${condition.sql})`).join(' AND ')
    const filter = tests === '' ? '' : ` WHERE ${tests}`
    const values = conditions.flatMap((condition) => condition.values)
    return this.rows(table, {
      sql: `SELECT ${columnsOf(table)} FROM ${table}${filter} ORDER BY ${order} LIMIT ?`,
      values: [...values, limit],
    })
  }

  /** The rows of a statement that selects all columns of a table in their order. */
  rows(table: TableName, { sql, values }: Condition): Fields[] {
    const columns = Object.entries(tables[table].columns)
    return this.#all(sql, values, true).map((found) => {
      const row: Fields = {}
      for (const [at, [name, kind]] of columns.entries()) {
        const value = (found as unknown as RowValue[])[at] ?? null
        row[name] = kind === 'word' && typeof value === 'number' ? this.words.word(value) : value
      }
      return row
    })
  }

  /** The rows of any statement, as they are. */
  all(sql: string, values: readonly RowValue[] = []): Fields[] {
    return this.#all(sql, values, false) as Fields[]
  }

  /** `column = word`, by the word's number. */
  is(column: string, word: string | undefined): Condition | undefined {
    if (word === undefined) return undefined
    return { sql: `${column} = ?`, values: [this.words.number(word)] }
  }

  /** `column` is one of some words. */
  isOneOf(column: string, words: readonly string[] | undefined): Condition | undefined {
    if (words === undefined) return undefined
    const values = words.map((word) => this.words.number(word))
    return { sql: `${column} IN (${values.map(() => '?').join(', ')})`, values }
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
    const known = this.#statements.get(sql)
    if (known !== undefined) return known
    const statement = this.#db.prepare(sql)
    statement.setReturnArrays(isArrays)
    if (this.#statements.size >= mostStatements) this.#statements.clear()
    this.#statements.set(sql, statement)
    return statement
  }
}

/** The columns of a table, in the order in which `rows` reads them. */
export function columnsOf(table: TableName, prefix = ''): string {
  return Object.keys(tables[table].columns)
    .map((name) => prefix + name)
    .join(', ')
}
