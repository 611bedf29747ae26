import type { TableSpec } from '../../contract/index-columns.ts'
import { indexVersion, tables } from '../../contract/index-tables.ts'
import type { FollowerSchema } from './open-follower.ts'

/** The statements that make an empty index, from the one description of its tables. */
export const indexSchema: FollowerSchema = {
  version: indexVersion,
  statements: [
    'CREATE TABLE words (no INTEGER PRIMARY KEY, word TEXT NOT NULL UNIQUE)',
    ...Object.entries(tables).flatMap(([name, spec]) => statements(name, spec)),
  ],
}

function statements(name: string, spec: TableSpec): string[] {
  const columns = Object.entries(spec.columns).map(([column, { kind }]) =>
    column === rowidOf(spec)
      ? `${column} INTEGER PRIMARY KEY`
      : `${column} ${kind === 'text' ? 'TEXT' : 'INTEGER'}${spec.key.includes(column) ? ' NOT NULL' : ''}`,
  )
  const isKeyed = rowidOf(spec) === undefined
  const body = isKeyed ? [...columns, `PRIMARY KEY (${spec.key.join(', ')})`] : columns
  const made = [`CREATE TABLE ${name} (${body.join(', ')})${isKeyed ? ' WITHOUT ROWID' : ''}`]
  if (spec.rowid !== undefined && spec.key.join() !== spec.rowid) {
    made.push(`CREATE UNIQUE INDEX ${name}_key ON ${name} (${spec.key.join(', ')})`)
  }
  for (const { columns: indexed, where } of spec.indexes) {
    const rest = where === undefined ? '' : ` WHERE ${where}`
    made.push(`CREATE INDEX ${name}_${indexed.join('_')} ON ${name} (${indexed.join(', ')})${rest}`)
  }
  return made
}

// A key that is one number is the row's own number: no second tree is needed to find it.
function rowidOf(spec: TableSpec): string | undefined {
  if (spec.rowid !== undefined) return spec.rowid
  const [only, second] = spec.key
  return second === undefined && only !== undefined && spec.columns[only]?.kind !== 'text' ? only : undefined
}

/** The columns of the full text, in order: texts, what the operators look at, and what is inside of words. */
export const searchColumns = ['title', 'body', 'tool', 'file', 'status', 'type', 'session', 'parts'] as const

/** What stands around a hit in a text; no stored text has them. */
export const hitMarks = { start: '\u0001', end: '\u0002' } as const

/** A table of texts and an index over it that holds only words and places. */
export const searchSchema: FollowerSchema = {
  version: 2,
  statements: [
    `CREATE TABLE docs (seq INTEGER PRIMARY KEY, atMs INTEGER NOT NULL, ${searchColumns.map((name) => `${name} TEXT`).join(', ')})`,
    `CREATE VIRTUAL TABLE found USING fts5 (${searchColumns.join(', ')},
      content = 'docs', content_rowid = 'seq', tokenize = 'unicode61 remove_diacritics 2')`,
    // An erased text must leave the index itself, not only stop being found.
    "INSERT INTO found (found, rank) VALUES ('secure-delete', 1)",
    'CREATE TABLE parked (seq INTEGER PRIMARY KEY, follower TEXT NOT NULL, error TEXT NOT NULL)',
  ],
}
