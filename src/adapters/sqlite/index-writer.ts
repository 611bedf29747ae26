import type { DatabaseSync } from 'node:sqlite'
import type { AgentEvent } from '../../contract/event.ts'
import type { RowOp } from '../../contract/row-op.ts'
import type { Applied, Follower, Opened, Position } from '../../ports/index.ts'
import { asRefusal, errorText, isKeyConflict } from './database.ts'
import { type Meta, openFollower, takeNew } from './open-follower.ts'
import { RowWriter } from './row-writer.ts'
import { indexSchema } from './schemas.ts'
import { BadOp } from './table-writer.ts'

type Project = (event: AgentEvent) => readonly RowOp[]
type Parked = Applied['parked'][number]

/** Opens the index for its one writer. Give the journal's watermark, so that an index ahead of it is replaced. */
export function openIndex(path: string, project: Project, watermark = Infinity): Opened<Follower> {
  return openFollower(
    { path, schema: indexSchema, watermark },
    (db, meta) => new IndexWriter(db, meta, project),
  )
}

class IndexWriter implements Follower {
  readonly #db: DatabaseSync
  readonly #meta: Meta
  readonly #project: Project
  readonly #rows: RowWriter
  #position: Position

  constructor(db: DatabaseSync, meta: Meta, project: Project) {
    this.#db = db
    this.#meta = meta
    this.#project = project
    this.#rows = new RowWriter(db)
    this.#position = meta.position()
  }

  position(): Position {
    return this.#position
  }

  apply(events: readonly AgentEvent[]): Applied {
    const { seq } = this.#position
    if (!events.some((event) => event.seq > seq)) return { applied: 0, parked: [], isStale: false }
    try {
      return this.#attempt(events, false)
    } catch (error) {
      if (!(error instanceof BadOp || isKeyConflict(error))) throw asRefusal(error)
    }
    // Something in the batch is not as it almost always is: once more, with every check.
    try {
      return this.#attempt(events, true)
    } catch (error) {
      throw asRefusal(error)
    }
  }

  close(): void {
    this.#db.close()
  }

  #attempt(events: readonly AgentEvent[], isCareful: boolean): Applied {
    try {
      this.#db.exec('BEGIN IMMEDIATE')
      const { position, applied, parked } = takeNew(events, this.#position, (event) =>
        this.#take(event, isCareful),
      )
      const isStale = this.#rows.flush()
      this.#meta.move(position)
      this.#db.exec('COMMIT')
      this.#position = position
      return { applied, parked, isStale }
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK')
      this.#rows.forget()
      throw error
    }
  }

  #take(event: AgentEvent, isCareful: boolean): Parked | undefined {
    let ops: readonly RowOp[]
    try {
      ops = this.#project(event)
      if (isCareful) for (const op of ops) this.#rows.check(op)
    } catch (error) {
      // Whatever a projection throws, one event must not stop the ones behind it.
      return this.#park({ seq: event.seq, error: errorText(error) })
    }
    for (const op of ops) this.#rows.take(op, !isCareful)
    return undefined
  }

  #park(parked: Parked): Parked {
    const { seq, error } = parked
    this.#rows.take({ op: 'upsert', table: 'parked', key: ['index', seq], keep: { error } }, false)
    return parked
  }
}
