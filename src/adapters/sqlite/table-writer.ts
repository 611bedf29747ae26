import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { ColumnKind, RowValue, TableSpec } from '../../contract/index-columns.ts'
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
      Object.entries(spec.columns).map(([column, { kind }], at) => [
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
    return parts.map((part, i) => this.#stored(this.spec.columns[this.spec.key[i] ?? '']?.kind, part))
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

  /** Whether a column of a row has this value, or none yet. */
  may(row: Row, column: string, value: RowValue): boolean {
    const { at, kind } = this.#column(column)
    const known = row.values[at] ?? null
    return known === null || known === this.#stored(kind, value)
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

/** A row in memory. Word columns hold numbers; the columns that changed are marked in two masks of 32. */
export type Row = {
  readonly values: RowValue[]
  isNew: boolean
  isTouched: boolean
  low: number
  high: number
}

/** The table rows are written to. */
type RowTable = {
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
class RowStatements {
  readonly #db: DatabaseSync
  readonly #table: RowTable
  readonly #inserts = new Map<ColumnSet, Shape>()
  readonly #updates = new Map<ColumnSet, Shape>()

  constructor(db: DatabaseSync, table: RowTable) {
    if (table.columns.length > 64) throw new RangeError(`${table.name} has more than 64 columns`)
    this.#db = db
    this.#table = table
  }

  /** Writes a row that is new or has marks, and takes the marks away. */
  write(row: Row): void {
    const set = columnSet(row)
    if (row.isNew) run(row, this.#inserts.get(set) ?? this.#insertOf(row, set))
    else if (set !== 0) run(row, this.#updates.get(set) ?? this.#updateOf(row, set))
    row.isNew = false
    row.low = 0
    row.high = 0
  }

  #insertOf(row: Row, set: ColumnSet): Shape {
    const { name, key } = this.#table
    const columns = [...new Set([...key, ...this.#marked(row)])]
    return this.#remember(this.#inserts, set, this.#shape(insertSql(name, columns), columns))
  }

  #updateOf(row: Row, set: ColumnSet): Shape {
    const { name, key } = this.#table
    const columns = this.#marked(row)
    const sql = `UPDATE ${name} SET ${columns.map((column) => `${column} = ?`).join(', ')} WHERE ${byKey(key)}`
    return this.#remember(this.#updates, set, this.#shape(sql, [...columns, ...key]))
  }

  #shape(sql: string, columns: readonly string[]): Shape {
    const places = columns.map((column) => this.#table.columns.indexOf(column))
    return { statement: this.#db.prepare(sql), places }
  }

  #remember(known: Map<ColumnSet, Shape>, set: ColumnSet, shape: Shape): Shape {
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

/** Which columns are marked, as the key of a map: one number, which costs less than a text, while it can hold them. */
type ColumnSet = number | string

const columnSet = ({ low, high }: Row): ColumnSet =>
  high >>> 0 < 0x20_0000 ? high * 0x1_0000_0000 + (low >>> 0) : `${high} ${low}`

function run({ values }: Row, { statement, places }: Shape): void {
  const bound: RowValue[] = []
  for (const place of places) bound.push(values[place] ?? null)
  statement.run(...bound)
}

/** The condition that finds a row by its key. */
const byKey = (key: readonly string[]): string => key.map((name) => `${name} = ?`).join(' AND ')

/** An operation that no row can take. The event that made it is parked. */
export class BadOp extends TypeError {
  override readonly name = 'BadOp'
}

/** A value as it comes back from the file: otherwise a row in memory would differ from the same row read again. */
export function clean(value: unknown): RowValue {
  if (typeof value === 'number') return safe(value)
  if (value === null) return null
  if (typeof value !== 'string') throw new BadOp(`a row cannot hold ${typeof value}`)
  const whole = value.isWellFormed() ? value : value.toWellFormed()
  // SQLite's own text functions stop at a NUL.
  return whole.includes('\0') ? whole.replaceAll('\0', '\uFFFD') : whole
}

/** A number that can be read back: SQLite would keep a larger one as an integer that JavaScript cannot hold. */
function safe(value: number): number {
  if (Number.isNaN(value)) throw new BadOp('a row cannot hold NaN')
  if (value > Number.MAX_SAFE_INTEGER) return Number.MAX_SAFE_INTEGER
  return value < -Number.MAX_SAFE_INTEGER ? -Number.MAX_SAFE_INTEGER : value
}

/**
 * The statement that inserts one row. Rows go in one by one: with indexes on the table, many rows to a
 * statement were measured to take up to twice as long.
 */
export function insertSql(table: string, columns: readonly string[]): string {
  return `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`
}
