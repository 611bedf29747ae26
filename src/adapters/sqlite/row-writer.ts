import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Carry, RowValue } from '../../contract/index-columns.ts'
import { type TableName, tableNames, tables } from '../../contract/index-tables.ts'
import type { Insert, RowOp, Upsert } from '../../contract/row-op.ts'
import { BadOp, clean, insertSql, type Row, TableWriter } from './table-writer.ts'
import { Words } from './words.ts'

const feedColumns = Object.keys(tables.events.columns)
const feedKinds = Object.values(tables.events.columns).map(({ kind }) => kind)

/** The changes of a batch, gathered in memory until they are written together. */
export class RowWriter {
  readonly #words: Words
  readonly #tables: ReadonlyMap<string, TableWriter>
  readonly #feed: StatementSync
  readonly #eraseTitle: StatementSync
  #lines: RowValue[][] = []
  #erased: number[] = []

  constructor(db: DatabaseSync) {
    this.#words = new Words(db)
    this.#tables = new Map(
      tableNames.map((name) => [name, new TableWriter(db, this.#words, { name, spec: tables[name] })]),
    )
    this.#feed = db.prepare(insertSql('events', feedColumns))
    this.#eraseTitle = db.prepare('UPDATE events SET title = NULL WHERE seq = ? AND title IS NOT NULL')
  }

  /** Throws a BadOp when an operation cannot be taken, before any of it is. */
  check(op: RowOp): void {
    if (op.op === 'insert') this.#table('events').check(op.row)
    else if (op.op === 'erase') op.seqs.forEach(clean)
    else {
      op.key.forEach(clean)
      const table = this.#table(op.table)
      for (const change of [op.keep, op.set, op.add, op.max]) if (change) table.check(change)
    }
  }

  /** Takes one operation. With `trustsHints`, a row said to be fresh is not looked up: the file's keys catch a lie. */
  take(op: RowOp, trustsHints: boolean): void {
    if (op.op === 'insert') this.#append(op)
    else if (op.op === 'erase') for (const seq of op.seqs) this.#erased.push(seq)
    else this.#upsert(op, trustsHints && op.isFresh === true)
  }

  /** Writes what was gathered; true when erased text had reached rows. */
  flush(): boolean {
    for (const line of this.#lines) this.#feed.run(...line)
    this.#lines = []
    for (const table of this.#tables.values()) table.flush()
    let changes = 0
    for (const seq of this.#erased) changes += Number(this.#eraseTitle.run(seq).changes)
    this.#erased = []
    return changes > 0
  }

  /** Drops what was gathered and all that is known of the file. */
  forget(): void {
    this.#lines = []
    this.#erased = []
    for (const table of this.#tables.values()) table.forget()
    this.#words.forget()
  }

  #append({ row }: Insert): void {
    const values = row as Readonly<Record<string, RowValue | undefined>>
    this.#lines.push(
      feedColumns.map((name, at) => {
        const value = values[name] ?? null
        return feedKinds[at] === 'word' && typeof value === 'string'
          ? this.#words.number(value)
          : clean(value)
      }),
    )
  }

  #upsert(op: Upsert<TableName>, isFresh: boolean): void {
    const table = this.#table(op.table)
    const row = table.row(table.key(op.key), isFresh)
    if (op.of !== undefined && !table.may(row, 'sessionId', op.of)) return
    const isSettled = op.unless !== undefined && table.value(row, op.unless) !== null
    const { carries } = table.spec
    const before = carries?.map((carry) => carried(table, row, carry))
    if (op.keep) table.keep(row, op.keep)
    if (op.set && !isSettled) table.set(row, op.set)
    if (op.add) table.add(row, op.add)
    if (op.max) table.max(row, op.max)
    carries?.forEach((carry, i) => {
      this.#carry(carry, before?.[i], -1)
      this.#carry(carry, carried(table, row, carry), 1)
    })
  }

  #carry(carry: Carry, amounts: Carried | undefined, sign: 1 | -1): void {
    if (amounts === undefined) return
    const table = this.#table(carry.to)
    const change: Record<string, number> = {}
    for (const [i, name] of carry.columns.entries()) {
      const amount = amounts.values[i]
      if (typeof amount === 'number') change[name] = sign * amount
    }
    const row = table.row(amounts.key)
    const owner = table.value(row, 'sessionId')
    if (owner === null || owner === amounts.owner) table.add(row, change)
  }

  #table(name: string): TableWriter {
    const table = this.#tables.get(name)
    if (table === undefined) throw new BadOp(`the index has no table ${name}`)
    return table
  }
}

type Carried = {
  readonly key: readonly RowValue[]
  readonly values: readonly RowValue[]
  /** The session that they are of. */
  readonly owner: RowValue
}

function carried(table: TableWriter, row: Row, carry: Carry): Carried | undefined {
  const key = carry.key.map((name) => table.value(row, name))
  if (key.includes(null)) return undefined
  const values = carry.columns.map((name) => table.value(row, name))
  return { key, values, owner: table.value(row, 'sessionId') }
}
