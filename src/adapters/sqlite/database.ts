import { closeSync, mkdirSync, openSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { AppError } from '../../contract/errors.ts'
import type { RowValue } from '../../contract/index-columns.ts'
import type { IndexProblem } from '../../ports/index.ts'

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

// Filters combine in many ways; the statements of rare ones are made again.
const most = 200

/** The statements of a reader, each prepared once. */
export class Statements {
  readonly #db: DatabaseSync
  readonly #known = new Map<string, StatementSync>()

  constructor(db: DatabaseSync) {
    this.#db = db
  }

  objects(sql: string, values: readonly RowValue[] = []): Record<string, RowValue>[] {
    return this.#all(sql, values, false) as Record<string, RowValue>[]
  }

  arrays(sql: string, values: readonly RowValue[]): RowValue[][] {
    return this.#all(sql, values, true) as RowValue[][]
  }

  close(): void {
    this.#db.close()
  }

  #all(sql: string, values: readonly RowValue[], isArrays: boolean): unknown[] {
    try {
      return this.#statement(sql, isArrays).all(...values)
    } catch (error) {
      throw asRefusal(error)
    }
  }

  #statement(sql: string, isArrays: boolean): StatementSync {
    const known = this.#known.get(sql)
    if (known !== undefined) return known
    const statement = this.#db.prepare(sql)
    statement.setReturnArrays(isArrays)
    if (this.#known.size >= most) this.#known.clear()
    this.#known.set(sql, statement)
    return statement
  }
}

// SQLite's result codes; an extended code has the primary one in its low byte.
const corrupt = new Set([11, 26])

/** What an SQLite error says of the file, or undefined when the file is not to blame. */
export function problemOf(error: unknown): IndexProblem | undefined {
  return corrupt.has(sqliteCode(error) & 0xff) ? 'corrupt' : undefined
}

function sqliteCode(error: unknown): number {
  if (typeof error !== 'object' || error === null || !('errcode' in error)) return 0
  return typeof error.errcode === 'number' ? error.errcode : 0
}

/** A damaged file as a refusal that says what helps; any other error as it is. */
export function asRefusal(error: unknown): unknown {
  const problem = problemOf(error)
  if (problem === undefined) return error
  return new AppError('unavailable', 'the index is damaged: run `sm journal rebuild-index`', {
    cause: error,
    details: { problem },
  })
}

/** The words of an error, short enough for a row. */
export function errorText(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 1000)
}

const constraint = 19

/** Two rows of one key: a row that was said to be new was there already. */
export function isKeyConflict(error: unknown): boolean {
  return (sqliteCode(error) & 0xff) === constraint
}

const cannotOpen = 14

/** There is no file to open. */
export function isMissing(error: unknown): boolean {
  return (sqliteCode(error) & 0xff) === cannotOpen
}

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
