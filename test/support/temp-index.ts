import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { indexFiles } from '../../src/adapters/sqlite/database.ts'
import { openIndexQueries } from '../../src/adapters/sqlite/index-queries.ts'
import { openIndex } from '../../src/adapters/sqlite/index-writer.ts'
import { openSearchQueries } from '../../src/adapters/sqlite/search-queries.ts'
import { openSearch } from '../../src/adapters/sqlite/search-writer.ts'
import type { AgentEvent } from '../../src/contract/event.ts'
import { searchText } from '../../src/core/projections/event-text.ts'
import { project } from '../../src/core/projections/project.ts'
import type { Follower, IndexQueries, Opened, SearchQueries } from '../../src/ports/index.ts'

/** A folder for index files that goes away when the test ends. */
export class TempIndex implements Disposable {
  readonly dir = mkdtempSync(join(tmpdir(), 'index-'))
  readonly path = join(this.dir, indexFiles.index)
  readonly searchPath = join(this.dir, indexFiles.search)

  writer(of: typeof project = project): Follower {
    return opened(openIndex(this.path, of))
  }

  searchWriter(of: typeof searchText = searchText): Follower {
    return opened(openSearch(this.searchPath, of))
  }

  /** Indexes events in one batch and opens the result for questions. */
  queries(events: readonly AgentEvent[]): IndexQueries & Disposable {
    const writer = this.writer()
    writer.apply(events)
    writer.close()
    const queries = openIndexQueries(this.path)
    return { ...queries, [Symbol.dispose]: () => queries.close() }
  }

  searchQueries(events: readonly AgentEvent[]): SearchQueries & Disposable {
    const writer = this.searchWriter()
    writer.apply(events)
    writer.close()
    const queries = openSearchQueries(this.searchPath)
    return { ...queries, [Symbol.dispose]: () => queries.close() }
  }

  [Symbol.dispose](): void {
    rmSync(this.dir, { recursive: true, force: true })
  }
}

/** The follower of an opened file; a file that cannot be used fails the test. */
export function opened(result: Opened<Follower>): Follower {
  if (!result.ok) throw new Error(`${result.problem}: ${result.detail}`)
  return result.follower
}

/** Applies events in batches that end at the given places. */
export function applyInBatches(
  follower: Follower,
  events: readonly AgentEvent[],
  cuts: readonly number[],
): void {
  const ends = [...new Set(cuts.map((cut) => cut % (events.length + 1))), events.length].sort((a, b) => a - b)
  let from = 0
  for (const end of ends) {
    follower.apply(events.slice(from, end))
    from = end
  }
}

/** Every row of every table by its key, the words of full text included. */
export function dump(path: string): Record<string, unknown[]> {
  const db = new DatabaseSync(path)
  try {
    const tables = db
      .prepare(
        "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'found%' ORDER BY name",
      )
      .all()
    const rows = tables.map(({ name, sql }) => {
      const key = /PRIMARY KEY \(([^)]+)\)/.exec(String(sql))?.[1] ?? '1'
      return [String(name), db.prepare(`SELECT * FROM ${String(name)} ORDER BY ${key}`).all()]
    })
    return { ...Object.fromEntries(rows), words: wordsOf(db) }
  } finally {
    db.close()
  }
}

function wordsOf(db: DatabaseSync): unknown[] {
  const isSearch = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'found'").get() !== undefined
  if (!isSearch) return db.prepare('SELECT * FROM words ORDER BY no').all()
  db.exec("CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab('main', 'found', 'instance')")
  return db.prepare('SELECT * FROM temp.vocabulary ORDER BY term, doc, col, offset').all()
}
