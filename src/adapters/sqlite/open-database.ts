import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** Opens a database for its one writer. The journal is the durable copy, so a commit need not wait for the disk. */
export function openForWriting(path: string): DatabaseSync {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  // SQLite gives -wal and -shm the mode of the main file, so that one has to be private from the start.
  closeSync(openSync(path, 'a', 0o600))
  return opened(path, {}, [
    'PRAGMA page_size = 8192',
    'PRAGMA journal_mode = WAL',
    'PRAGMA synchronous = NORMAL',
    'PRAGMA cache_size = -2048',
    'PRAGMA wal_autocheckpoint = 4000',
    'PRAGMA journal_size_limit = 67108864',
    'PRAGMA temp_store = MEMORY',
  ])
}

/** Opens a database that somebody else writes. */
export function openForReading(path: string): DatabaseSync {
  return opened(path, { readOnly: true }, ['PRAGMA query_only = ON', 'PRAGMA cache_size = -2048'])
}

function opened(path: string, options: { readOnly?: boolean }, pragmas: readonly string[]): DatabaseSync {
  const db = new DatabaseSync(path, options)
  try {
    db.exec('PRAGMA busy_timeout = 5000')
    for (const pragma of pragmas) db.exec(pragma)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}
