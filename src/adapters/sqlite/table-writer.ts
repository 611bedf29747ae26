import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { ColumnKind, TableSpec } from '../../contract/index-tables.ts'
import type { RowValue } from '../../contract/row-op.ts'
import { insertSql } from './insert-sql.ts'
import { BadOp, clean, safe } from './row-value.ts'
import type { Words } from './words.ts'

/** A row in memory. Word columns hold numbers; a row's columns are marked in two masks of 32. */
export type Row = {
  readonly values: RowValue[]
  isNew: boolean
  isTouched: boolean
  low: number
  high: number
}

type Change = Readonly<Record<string, RowValue | undefined>>
type Column = { readonly at: number; readonly kind: ColumnKind; readonly low: number; readonly high: number }

// Rows beyond this are read again when they are next needed.
const most = 20_000

/**
 * The rows of one table that a batch touches. A row is read once, changed in memory by every event of the
 * batch, and written once: the result is the same wherever a batch is cut.
 */
export class TableWriter {
  readonly spec: TableSpec
  readonly #name: string
  readonly #db: DatabaseSync
  readonly #words: Words
  readonly #columns: ReadonlyMap<string, Column>
  readonly #names: readonly string[]
  readonly #load: StatementSync
  readonly #insert: StatementSync
  readonly #updates = new Map<number, StatementSync>()
  readonly #rows = new Map<RowValue, Row>()
  #touched: Row[] = []

  constructor(db: DatabaseSync, words: Words, { name, spec }: { name: string; spec: TableSpec }) {
    this.#db = db
    this.#words = words
    this.#name = name
    this.spec = spec
    this.#names = Object.keys(spec.columns)
    // The marks of changed columns are one number.
    if (this.#names.length > 52) throw new RangeError(`${name} has more than 52 columns`)
    this.#columns = new Map(
      Object.entries(spec.columns).map(([column, kind], at) => [
        column,
        { at, kind, low: at < 32 ? 1 << at : 0, high: at < 32 ? 0 : 1 << (at - 32) },
      ]),
    )
    this.#load = db.prepare(`SELECT ${this.#names.join(', ')} FROM ${name} WHERE ${this.#byKey()}`)
    this.#load.setReturnArrays(true)
    this.#insert = db.prepare(insertSql(name, this.#names))
  }

  /** The key of a row as the file has it. */
  key(parts: readonly RowValue[]): RowValue[] {
    return parts.map((part, i) => this.#stored(this.spec.columns[this.spec.key[i] ?? ''], part))
  }

  /** The row of a key, made when there is none. */
  row(key: readonly RowValue[], isSurelyNew = false): Row {
    const name = nameOf(key)
    const row =
      this.#rows.get(name) ?? (isSurelyNew ? undefined : this.#read(key, name)) ?? this.#make(key, name)
    if (!row.isTouched) {
      row.isTouched = true
      this.#touched.push(row)
    }
    return row
  }

  #read(key: readonly RowValue[], name: RowValue): Row | undefined {
    const values = this.#load.get(...key) as unknown as RowValue[] | undefined
    if (values === undefined) return undefined
    const row: Row = { values: [...values], isNew: false, isTouched: false, low: 0, high: 0 }
    this.#rows.set(name, row)
    return row
  }

  /** Throws when the table cannot take a change. */
  check(change: Readonly<Record<string, unknown>>): void {
    for (const [name, value] of Object.entries(change)) {
      if (value !== undefined && value !== null) clean(value)
      this.#column(name)
    }
  }

  value(row: Row, column: string): RowValue {
    return row.values[this.#column(column).at] ?? null
  }

  set(row: Row, change: Change): void {
    for (const name in change) {
      const value = change[name]
      if (value === undefined) continue
      const column = this.#column(name)
      this.#write(row, column, this.#stored(column.kind, value))
    }
  }

  keep(row: Row, change: Change): void {
    for (const name in change) {
      const value = change[name]
      if (value === undefined || value === null) continue
      const column = this.#column(name)
      if (row.values[column.at] === null) this.#write(row, column, this.#stored(column.kind, value))
    }
  }

  add(row: Row, change: Change): void {
    for (const name in change) {
      const amount = change[name]
      if (typeof amount !== 'number') continue
      const column = this.#column(name)
      this.#write(row, column, safe(Number(row.values[column.at] ?? 0) + amount))
    }
  }

  max(row: Row, change: Change): void {
    for (const name in change) {
      const value = change[name]
      if (typeof value !== 'number') continue
      const column = this.#column(name)
      const old = row.values[column.at]
      if (typeof old !== 'number' || value > old) this.#write(row, column, safe(value))
    }
  }

  /** Writes what the batch changed. */
  flush(): void {
    for (const row of this.#touched) {
      if (row.isNew) this.#insert.run(...row.values)
      else if (row.low !== 0 || row.high !== 0) this.#update(row)
      row.isNew = false
      row.isTouched = false
      row.low = 0
      row.high = 0
    }
    this.#touched = []
    if (this.#rows.size > most) this.#evict()
  }

  /** Drops everything in memory: after a rollback it is not what the file holds. */
  forget(): void {
    this.#rows.clear()
    this.#touched = []
  }

  #make(key: readonly RowValue[], name: RowValue): Row {
    const values: RowValue[] = this.#names.map(() => null)
    const row: Row = { values, isNew: true, isTouched: false, low: 0, high: 0 }
    for (const [i, column] of this.spec.key.entries()) values[this.#column(column).at] = key[i] ?? null
    this.#rows.set(name, row)
    return row
  }

  #write(row: Row, column: Column, value: RowValue): void {
    if (row.values[column.at] === value) return
    row.values[column.at] = value
    row.low |= column.low
    row.high |= column.high
  }

  #stored(kind: ColumnKind | undefined, value: RowValue): RowValue {
    const kept = clean(value)
    return kind === 'word' && typeof kept === 'string' ? this.#words.number(kept) : kept
  }

  #column(name: string): Column {
    const column = this.#columns.get(name)
    if (column === undefined) throw new BadOp(`${this.#name} has no column ${name}`)
    return column
  }

  #update(row: Row): void {
    const changed = this.#names.filter((_, at) =>
      at < 32 ? row.low & (1 << at) : row.high & (1 << (at - 32)),
    )
    // Only what changed is written: indexes of other columns stay untouched.
    const shape = row.high * 0x1_0000_0000 + (row.low >>> 0)
    let statement = this.#updates.get(shape)
    if (statement === undefined) {
      const sets = changed.map((name) => `${name} = ?`).join(', ')
      statement = this.#db.prepare(`UPDATE ${this.#name} SET ${sets} WHERE ${this.#byKey()}`)
      this.#updates.set(shape, statement)
    }
    const names = [...changed, ...this.spec.key]
    statement.run(...names.map((name) => this.value(row, name)))
  }

  #byKey(): string {
    return this.spec.key.map((name) => `${name} = ?`).join(' AND ')
  }

  #evict(): void {
    let extra = this.#rows.size - most / 2
    for (const key of this.#rows.keys()) {
      if (extra-- <= 0) break
      this.#rows.delete(key)
    }
  }
}

// Cleaned text has no NUL, so no two keys have one name.
const nameOf = (key: readonly RowValue[]): RowValue => (key.length === 1 ? (key[0] ?? null) : key.join('\0'))
