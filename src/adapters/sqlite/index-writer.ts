import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { AgentEvent } from '../../contract/event.ts'
import { type Carry, type TableName, tableNames, tables } from '../../contract/index-tables.ts'
import type { Insert, RowOp, RowValue, Upsert } from '../../contract/row-op.ts'
import type { Applied, Follower, Opened, Position } from '../../ports/index.ts'
import { BulkInsert } from './bulk-insert.ts'
import { indexSchema } from './index-schema.ts'
import type { Meta } from './meta.ts'
import { openFollower } from './open-follower.ts'
import { asRefusal, errorText } from './problem.ts'
import { clean } from './row-value.ts'
import { type Row, TableWriter } from './table-writer.ts'
import { Words } from './words.ts'

type Project = (event: AgentEvent) => readonly RowOp[]
type Parked = { readonly seq: number; readonly error: string }

/** Opens the index for its one writer. Give the journal's watermark, so that an index of another journal is replaced. */
export function openIndex(path: string, project: Project, watermark = Infinity): Opened<Follower> {
  return openFollower({ path, schema: indexSchema, watermark }, (db, meta) => new IndexWriter(db, meta, project))
}

const feedColumns = Object.keys(tables.events.columns)
const feedKinds = Object.values(tables.events.columns)

class IndexWriter implements Follower {
  readonly #db: DatabaseSync
  readonly #meta: Meta
  readonly #project: Project
  readonly #words: Words
  readonly #tables: ReadonlyMap<TableName, TableWriter>
  readonly #feed: BulkInsert
  readonly #eraseTitle: StatementSync
  #position: Position
  #lines: RowValue[][] = []
  #erased: number[] = []

  constructor(db: DatabaseSync, meta: Meta, project: Project) {
    this.#db = db
    this.#meta = meta
    this.#project = project
    this.#words = new Words(db)
    this.#tables = new Map(
      tableNames.map((name) => [name, new TableWriter(db, this.#words, { name, spec: tables[name] })]),
    )
    this.#feed = new BulkInsert(db, { table: 'events', columns: feedColumns })
    this.#eraseTitle = db.prepare('UPDATE events SET title = NULL WHERE seq = ? AND title IS NOT NULL')
    this.#position = meta.position()
  }

  position(): Position {
    return this.#position
  }

  apply(events: readonly AgentEvent[]): Applied {
    let last = this.#position
    let applied = 0
    const parked: Parked[] = []
    if (!events.some((event) => event.seq > last.seq)) return { applied, parked, isStale: false }
    try {
      this.#db.exec('BEGIN IMMEDIATE')
      for (const event of events) {
        if (event.seq <= last.seq) continue
        last = { seq: event.seq, id: event.id }
        const problem = this.#take(event)
        if (problem === undefined) applied++
        else parked.push(problem)
      }
      const isStale = this.#flush()
      this.#meta.move(last)
      this.#db.exec('COMMIT')
      this.#position = last
      return { applied, parked, isStale }
    } catch (error) {
      this.#abandon()
      throw asRefusal(error)
    }
  }

  close(): void {
    this.#db.close()
  }

  #take(event: AgentEvent): Parked | undefined {
    let ops: readonly RowOp[]
    try {
      ops = this.#project(event)
    } catch (error) {
      // Whatever a projection throws, one event must not stop the ones behind it.
      const parked = { seq: event.seq, error: errorText(error) }
      this.#upsert({
        op: 'upsert',
        table: 'parked',
        key: ['index', event.seq],
        keep: { error: parked.error },
      })
      return parked
    }
    for (const op of ops) {
      if (op.op === 'insert') this.#append(op)
      else if (op.op === 'upsert') this.#upsert(op)
      else for (const seq of op.seqs) this.#erased.push(seq)
    }
    return undefined
  }

  #append({ row }: Insert): void {
    const values = row as Readonly<Record<string, RowValue | undefined>>
    this.#lines.push(
      feedColumns.map((name, at) => {
        const value = clean(values[name] ?? null)
        return feedKinds[at] === 'word' && typeof value === 'string' ? this.#words.number(value) : value
      }),
    )
  }

  #upsert(op: Upsert<TableName>): void {
    const table = this.#table(op.table)
    const row = table.row(table.key(op.key))
    if (op.unless !== undefined && table.value(row, op.unless) !== null) return
    const { carries } = table.spec
    const before = carries?.map((carry) => carried(table, row, carry))
    if (op.keep) table.keep(row, op.keep)
    if (op.set) table.set(row, op.set)
    if (op.add) table.add(row, op.add)
    if (op.max) table.max(row, op.max)
    carries?.forEach((carry, i) => {
      this.#carry(carry, before?.[i], -1)
      this.#carry(carry, carried(table, row, carry), 1)
    })
  }

  #carry(carry: Carry, amounts: Carried | undefined, sign: 1 | -1): void {
    if (amounts === undefined) return
    const table = this.#table(carry.to as TableName)
    const row = carry.existingOnly ? table.find(amounts.key) && table.row(amounts.key) : table.row(amounts.key)
    if (row === undefined) return
    const change: Record<string, number> = {}
    for (const [i, name] of carry.columns.entries()) {
      const amount = amounts.values[i]
      if (typeof amount === 'number') change[name] = sign * amount
    }
    table.add(row, change)
  }

  #flush(): boolean {
    this.#feed.insert(this.#lines)
    this.#lines = []
    for (const table of this.#tables.values()) table.flush()
    let changes = 0
    for (const seq of this.#erased) changes += Number(this.#eraseTitle.run(seq).changes)
    this.#erased = []
    return changes > 0
  }

  #abandon(): void {
    if (this.#db.isTransaction) this.#db.exec('ROLLBACK')
    this.#lines = []
    this.#erased = []
    for (const table of this.#tables.values()) table.forget()
    this.#words.forget()
  }

  #table(name: TableName): TableWriter {
    const table = this.#tables.get(name)
    if (table === undefined) throw new TypeError(`the index has no table ${name}`)
    return table
  }
}

type Carried = { readonly key: readonly RowValue[]; readonly values: readonly RowValue[] }

function carried(table: TableWriter, row: Row, carry: Carry): Carried | undefined {
  const key = carry.key.map((name) => table.value(row, name))
  if (key.includes(null)) return undefined
  return { key, values: carry.columns.map((name) => table.value(row, name)) }
}
