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
  readonly page: Page
  /** The column that rows are paged by, and ordered by unless `order` says another way. */
  readonly by: string
  /** Columns and what they have to be; what is undefined does not matter. */
  readonly equal?: Readonly<Record<string, string | undefined>>
  /** Conditions that all hold; each `?` takes the next value. */
  readonly where?: readonly (Condition | undefined)[]
  readonly order?: string
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

  select(table: TableName, { page, by, order = by, ...selection }: Selection): Fields[] {
    const { sql, values } = this.#filter(table, selection, between(by, page))
    return this.rows(tables[table].columns, {
      sql: `SELECT ${columnsOf(table)} FROM ${table}${sql} ORDER BY ${order} LIMIT ?`,
      values: [...values, limitOf(page.limit)],
    })
  }

  /** How many rows there are of a kind. */
  count(table: TableName, selection: Pick<Selection, 'equal' | 'where'>): number {
    const { sql, values } = this.#filter(table, selection)
    return Number(this.all(`SELECT count(*) AS n FROM ${table}${sql}`, values)[0]?.['n'] ?? 0)
  }

  #filter(
    table: TableName,
    { equal = {}, where = [] }: Pick<Selection, 'equal' | 'where'>,
    page: readonly (Condition | undefined)[] = [],
  ): Condition {
    const columns: Columns = tables[table].columns
    const equals = Object.entries(equal).map(([name, value]) =>
      columns[name]?.kind === 'word' ? this.is(name, value) : equalTo(name, value),
    )
    const conditions = [...page, ...equals, ...where].filter((one) => one !== undefined)
    const tests = conditions.map((condition) => `(${condition.sql})`).join(' AND ')
    return {
      sql: tests === '' ? '' : ` WHERE ${tests}`,
      values: conditions.flatMap((condition) => condition.values),
    }
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

const equalTo = (column: string, value: string | undefined): Condition | undefined =>
  value === undefined ? undefined : { sql: `${column} = ?`, values: [value] }

/** A test that has to hold or has to fail; it does not matter when nothing is wanted. */
export function flag(sql: string, wanted: boolean | undefined): Condition | undefined {
  return wanted === undefined ? undefined : { sql: wanted ? sql : `NOT (${sql})`, values: [] }
}

/** The time between two times of a row, when both are known. */
export function elapsed(from: unknown, to: unknown): number | null {
  return typeof from === 'number' && typeof to === 'number' ? Math.max(to - from, 0) : null
}

/** A date as a day number. */
export function dayOf(date: string): number {
  return Math.floor(Date.parse(date) / 86_400_000)
}

/** A sum that is null when nothing was summed, and never overflows an integer. */
export const sumSql = (column: string): string =>
  `CASE WHEN count(${column}) > 0 THEN min(total(${column}), ${Number.MAX_SAFE_INTEGER}.0) END AS ${column}`
