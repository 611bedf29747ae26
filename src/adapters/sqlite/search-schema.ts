import type { FollowerSchema } from './open-follower.ts'

/** The columns of the full text, in order. The last five are what the operators look at. */
export const searchColumns = ['title', 'body', 'tool', 'file', 'status', 'type', 'session'] as const

/** What stands around a hit in a text; no stored text has them. */
export const hitMarks = { start: '\u0001', end: '\u0002' } as const

/** A table of texts and an index over it that holds only words and places. */
export const searchSchema: FollowerSchema = {
  version: 1,
  statements: [
    `CREATE TABLE docs (seq INTEGER PRIMARY KEY, atMs INTEGER NOT NULL, ${searchColumns.map((name) => `${name} TEXT`).join(', ')})`,
    `CREATE VIRTUAL TABLE found USING fts5 (${searchColumns.join(', ')},
      content = 'docs', content_rowid = 'seq', tokenize = 'unicode61 remove_diacritics 2')`,
    // An erased text must leave the index itself, not only stop being found.
    "INSERT INTO found (found, rank) VALUES ('secure-delete', 1)",
    'CREATE TABLE parked (seq INTEGER PRIMARY KEY, follower TEXT NOT NULL, error TEXT NOT NULL)',
  ],
}
