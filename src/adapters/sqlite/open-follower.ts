import type { DatabaseSync } from 'node:sqlite'
import type { Follower, Opened } from '../../ports/index.ts'
import { Meta, metaTable } from './meta.ts'
import { openForWriting } from './open-database.ts'
import { errorText, problemOf } from './problem.ts'
import { removeDatabase } from './remove-index.ts'

/** What a follower's file must look like. */
export type FollowerSchema = { readonly version: number; readonly statements: readonly string[] }

/** Where a follower's file is, what it must look like, and how far the journal reaches. */
export type FollowerFile = {
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
export const shapeOf = (schema: FollowerSchema): string => schema.statements.join(';\n')
