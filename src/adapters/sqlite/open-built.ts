import type { DatabaseSync } from 'node:sqlite'
import { AppError } from '../../contract/errors.ts'
import { Meta } from './meta.ts'
import { openForReading } from './open-database.ts'
import { type FollowerSchema, shapeOf } from './open-follower.ts'
import { asRefusal, isMissing } from './problem.ts'

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
