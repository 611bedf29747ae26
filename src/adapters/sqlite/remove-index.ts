import { rmSync } from 'node:fs'
import { join } from 'node:path'

/** The names of the index files inside their folder. */
export const indexFiles = { index: 'index.db', search: 'search.db' } as const

/** Deletes index and search; both come back from the journal. Readers that are open keep the old files until closed. */
export function removeIndex(dir: string): void {
  for (const name of Object.values(indexFiles)) removeDatabase(join(dir, name))
}

/** Deletes a database and what SQLite keeps beside it. */
export function removeDatabase(path: string): void {
  // The log goes first: a log without its database is ignored, a database with a foreign log is damage.
  for (const suffix of ['-wal', '-shm', '']) rmSync(path + suffix, { force: true })
}
