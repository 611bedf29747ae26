import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Position } from '../../ports/index.ts'

/** The schema a file was made with. */
export type SchemaMark = { readonly version: number; readonly shape: string }

export const metaTable = 'CREATE TABLE meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID'

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
