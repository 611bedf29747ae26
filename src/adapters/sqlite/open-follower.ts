import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { AppError } from '../../contract/errors.ts'
import type { AgentEvent } from '../../contract/event.ts'
import type { Applied, Follower, Opened, Position } from '../../ports/index.ts'
import {
  asRefusal,
  errorText,
  isMissing,
  openForReading,
  openForWriting,
  problemOf,
  removeDatabase,
} from './database.ts'

/** What a follower's file must look like. */
export type FollowerSchema = { readonly version: number; readonly statements: readonly string[] }

/** Where a follower's file is, what it must look like, and how far the journal reaches. */
type FollowerFile = {
  readonly path: string
  readonly schema: FollowerSchema
  /** The last durable seq of the journal; a file that is ahead of it belongs to another journal. */
  readonly watermark: number
}

/** Opens a follower's file; one of an older schema or ahead of the journal is replaced by an empty one. */
export function openFollower<T extends Follower>(
  file: FollowerFile,
  make: (db: DatabaseSync, meta: Meta) => T,
): Opened<T> {
  let db: DatabaseSync | undefined
  try {
    db = openForWriting(file.path)
    const state = stateOf(db, file)
    if (state === 'newer') {
      db.close()
      return { ok: false, problem: 'newer', detail: `${file.path} was written by a newer version` }
    }
    if (state === 'other') {
      db.close()
      removeDatabase(file.path)
      db = openForWriting(file.path)
    }
    if (state !== 'current') create(db, file.schema)
    const meta = new Meta(db)
    return { ok: true, follower: make(db, meta), isEmpty: meta.position().seq === 0 }
  } catch (error) {
    if (db?.isOpen) db.close()
    const problem = problemOf(error)
    if (problem === undefined) throw error
    return { ok: false, problem, detail: errorText(error) }
  }
}

function stateOf(db: DatabaseSync, file: FollowerFile): 'empty' | 'current' | 'newer' | 'other' {
  const tables = db.prepare('SELECT name FROM sqlite_schema').all()
  if (tables.length === 0) return 'empty'
  if (!tables.some((row) => row['name'] === 'meta')) return 'other'
  const meta = new Meta(db)
  const { version, shape } = meta.schema()
  if (version > file.schema.version) return 'newer'
  const isSame = version === file.schema.version && shape === shapeOf(file.schema)
  return isSame && meta.position().seq <= file.watermark ? 'current' : 'other'
}

// A file that was killed while it was being made has no tables at all.
function create(db: DatabaseSync, schema: FollowerSchema): void {
  db.exec('BEGIN IMMEDIATE')
  for (const statement of [metaTable, ...schema.statements]) db.exec(statement)
  new Meta(db).mark({ version: schema.version, shape: shapeOf(schema) })
  db.exec('COMMIT')
}

/** The exact shape of a schema, by which a file made with another one is known. */
const shapeOf = (schema: FollowerSchema): string => schema.statements.join(';\n')

/** Opens a follower's file for questions; one that its writer has not made yet is refused. */
export function openBuilt(path: string, schema: FollowerSchema): { db: DatabaseSync; meta: Meta } {
  let db: DatabaseSync | undefined
  try {
    db = openForReading(path)
    const made = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'meta'").get()
    const meta = made === undefined ? undefined : new Meta(db)
    if (meta !== undefined && meta.schema().shape === shapeOf(schema)) return { db, meta }
  } catch (error) {
    if (db?.isOpen) db.close()
    if (!isMissing(error)) throw asRefusal(error)
  }
  if (db?.isOpen) db.close()
  throw new AppError(
    'unavailable',
    'the index is not built yet: try again when the daemon has read its journal',
  )
}

/** The seq up to which a follower's file was built; 0 when it is not there or cannot say so. */
export function builtSeq(path: string): number {
  let db: DatabaseSync | undefined
  try {
    db = openForReading(path)
    const made = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'meta'").get()
    const { seq } = made === undefined ? { seq: 0 } : new Meta(db).position()
    return Number.isSafeInteger(seq) && seq > 0 ? seq : 0
  } catch (error) {
    if (isMissing(error) || problemOf(error) !== undefined) return 0
    throw error
  } finally {
    if (db?.isOpen) db.close()
  }
}

type Taken = Pick<Applied, 'applied' | 'parked'> & { readonly position: Position }

/** Takes the events after a position one by one; `take` answers why it could not take one, which is then parked. */
export function takeNew(
  events: readonly AgentEvent[],
  from: Position,
  take: (event: AgentEvent) => Applied['parked'][number] | undefined,
): Taken {
  let position = from
  let applied = 0
  const parked: Applied['parked'][number][] = []
  for (const event of events) {
    if (event.seq <= position.seq) continue
    position = { seq: event.seq, id: event.id }
    const problem = take(event)
    if (problem === undefined) applied++
    else parked.push(problem)
  }
  return { position, applied, parked }
}

/** The schema a file was made with. */
type SchemaMark = { readonly version: number; readonly shape: string }

const metaTable = 'CREATE TABLE meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID'

/** The few facts a file keeps about itself. */
export class Meta {
  readonly #get: StatementSync
  readonly #put: StatementSync

  constructor(db: DatabaseSync) {
    this.#get = db.prepare('SELECT value FROM meta WHERE name = ?')
    this.#put = db.prepare('INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value')
  }

  position(): Position {
    const id = this.#value('cursorId')
    return { seq: Number(this.#value('cursor') ?? 0), id: typeof id === 'string' ? id : null }
  }

  move({ seq, id }: Position): void {
    this.#put.run('cursor', seq)
    this.#put.run('cursorId', id)
  }

  mark({ version, shape }: SchemaMark): void {
    this.#put.run('version', version)
    this.#put.run('shape', shape)
  }

  schema(): SchemaMark {
    return { version: Number(this.#value('version') ?? 0), shape: String(this.#value('shape')) }
  }

  #value(name: string): unknown {
    return this.#get.get(name)?.['value']
  }
}
