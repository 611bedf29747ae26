import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { ColumnKind, TableSpec } from '../../contract/index-tables.ts'
import type { RowValue } from '../../contract/row-op.ts'
import { byKey, type Row, RowStatements } from './row-statements.ts'
import { BadOp, clean, safe } from './row-value.ts'
import type { Words } from './words.ts'

type Change = Readonly<Record<string, RowValue | undefined>>
type Column = { readonly at: number; readonly kind: ColumnKind; readonly low: number; readonly high: number }

// Rows beyond this are read again when they are next needed.
const most = 4_000

/**
 * The rows of one table that a batch touches. A row is read once, changed in memory by every event of the
 * batch, and written once: the result is the same wherever a batch is cut.
 */
export class TableWriter {
  readonly spec: TableSpec
  readonly #name: string
  readonly #words: Words
  readonly #columns: ReadonlyMap<string, Column>
  readonly #names: readonly string[]
  readonly #load: StatementSync
  readonly #statements: RowStatements
  readonly #rows = new Map<RowValue, Row>()
  #touched: Row[] = []

  constructor(db: DatabaseSync, words: Words, { name, spec }: { name: string; spec: TableSpec }) {
    this.#words = words
    this.#name = name
    this.spec = spec
    this.#names = Object.keys(spec.columns)
    this.#columns = new Map(
      Object.entries(spec.columns).map(([column, kind], at) => [
        column,
        { at, kind, low: at < 32 ? 1 << at : 0, high: at < 32 ? 0 : 1 << (at - 32) },
      ]),
    )
    this.#load = db.prepare(`SELECT ${this.#names.join(', ')} FROM ${name} WHERE ${byKey(spec.key)}`)
    this.#load.setReturnArrays(true)
    this.#statements = new RowStatements(db, { name, columns: this.#names, key: spec.key })
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
      this.#statements.write(row)
      row.isTouched = false
    }
    this.#touched = []
    if (this.#rows.size > most) this.#evict()
  }

  /** Drops everything in memory: after a rollback it is not what the file holds. */
  forget(): void {
    this.#rows.clear()
    this.#touched = []
  }

  #read(key: readonly RowValue[], name: RowValue): Row | undefined {
    const values = this.#load.get(...key) as unknown as RowValue[] | undefined
    if (values === undefined) return undefined
    const row: Row = { values: [...values], isNew: false, isTouched: false, low: 0, high: 0 }
    this.#rows.set(name, row)
    return row
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
    return kind === 'word' && typeof value === 'string' ? this.#words.number(value) : clean(value)
  }

  #column(name: string): Column {
    const column = this.#columns.get(name)
    if (column === undefined) throw new BadOp(`${this.#name} has no column ${name}`)
    return column
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
