import type { DatabaseSync } from 'node:sqlite'
import { answeredAs, type Columns, type RowValue } from '../../contract/index-columns.ts'
import { type TableName, tables } from '../../contract/index-tables.ts'
import type { Page } from '../../ports/index.ts'
import { Statements } from './database.ts'
import { WordReader } from './words.ts'

/** A row as it is answered. */
export type Fields = Record<string, unknown>

/** Which rows of a table, in which order. */
type Selection = {
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
    return this.rows(tables[table].columns, {
      sql: `SELECT ${columnsOf(table)} FROM ${table}${filter} ORDER BY ${order} LIMIT ?`,
      values: [...values, limit],
    })
  }

  /** The rows of a statement that selects these columns in their order. */
  rows(columns: Columns, { sql, values }: Condition): Fields[] {
    const fields = Object.entries(columns).map(([name, column]) => ({ ...column, name: answeredAs(name) }))
    return this.#statements.arrays(sql, values).map((found) => {
      const row: Fields = {}
      for (const [at, { name, kind, read }] of fields.entries()) {
        const kept = found[at] ?? null
        const value = kind === 'word' && typeof kept === 'number' ? this.words.word(kept) : kept
        row[name] = read === undefined ? value : read(value)
      }
      return row
    })
  }

  /** The rows of any statement, as they are. */
  all(sql: string, values: readonly RowValue[] = []): Record<string, RowValue>[] {
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

const usual = 100
const most = 5000

/** How many rows a page may have: a query must never be as long as the journal. */
export function limitOf(limit: number | undefined): number {
  if (limit === undefined || Number.isNaN(limit)) return usual
  return Math.min(Math.max(Math.trunc(limit), 0), most)
}

/** The conditions of a page over the column it is paged by. */
export function between(column: string, { after, before }: Page): (Condition | undefined)[] {
  return [
    after === undefined ? undefined : { sql: `${column} > ?`, values: [after] },
    before === undefined ? undefined : { sql: `${column} < ?`, values: [before] },
  ]
}

/** A date as a day number. */
export function dayOf(date: string): number {
  return Math.floor(Date.parse(date) / 86_400_000)
}

/** A sum that is null when nothing was summed, and never overflows an integer. */
export const sumSql = (column: string): string =>
  `CASE WHEN count(${column}) > 0 THEN min(total(${column}), ${Number.MAX_SAFE_INTEGER}.0) END AS ${column}`
