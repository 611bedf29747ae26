import type { DatabaseSync } from 'node:sqlite'
import { type TableName, tables } from '../../contract/index-tables.ts'
import type { RowValue } from '../../contract/row-op.ts'
import { Statements } from './statements.ts'
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

/** Reads rows; every statement is prepared once. */
export class RowReader {
  readonly words: WordReader
  readonly #statements: Statements

  constructor(db: DatabaseSync) {
    this.#statements = new Statements(db)
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
    return this.#statements.arrays(sql, values).map((found) => {
      const row: Fields = {}
      for (const [at, [name, kind]] of columns.entries()) {
        const value = found[at] ?? null
        row[name] = kind === 'word' && typeof value === 'number' ? this.words.word(value) : value
      }
      return row
    })
  }

  /** The rows of any statement, as they are. */
  all(sql: string, values: readonly RowValue[] = []): Fields[] {
    return this.#statements.objects(sql, values)
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
    this.#statements.close()
  }
}

/** The columns of a table, in the order in which `rows` reads them. */
export function columnsOf(table: TableName, prefix = ''): string {
  return Object.keys(tables[table].columns)
    .map((name) => prefix + name)
    .join(', ')
}
