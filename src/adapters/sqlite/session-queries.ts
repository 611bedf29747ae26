import type { SessionRow } from '../../contract/index-rows.ts'
import type { SessionFilter } from '../../ports/index.ts'
import { between, limitOf } from './page.ts'
import { type Condition, columnsOf, type Fields, type RowReader } from './row-reader.ts'
import { callCounts, counted, priced, toolCounts } from './shape.ts'

// A row that only carries totals of the fleet's own model calls is no session.
const isSession: Condition = { sql: 'firstSeq IS NOT NULL', values: [] }

export function sessions(reader: RowReader, filter: SessionFilter): SessionRow[] {
  const { parentId, isRoot, isOpen, text } = filter
  const like = text === undefined ? undefined : `%${text.replace(/[%_\\]/g, '\\$&')}%`
  return reader
    .select({
      table: 'sessions',
      where: [
        isSession,
        ...between('firstSeq', filter),
        reader.isOneOf('lifecycle', filter.lifecycle),
        reader.is('parentId', parentId),
        reader.is('agentType', filter.agentType),
        reader.is('origin', filter.origin),
        reader.is('workingDir', filter.workingDir),
        flag('parentId IS NULL', isRoot),
        flag('endedMs IS NULL', isOpen),
        like === undefined
          ? undefined
          : {
              sql: ['name', 'friendlyName', 'title', 'prompt']
                .map((c) => `${c} LIKE ? ESCAPE '\\'`)
                .join(' OR '),
              values: [like, like, like, like],
            },
      ],
      order: 'firstSeq DESC',
      limit: limitOf(filter.limit),
    })
    .map(shape)
}

/** The most exact reading of a word that any session fits. */
export function findSessions(reader: RowReader, word: string, limit?: number): SessionRow[] {
  const start = `${word.replace(/[*?[]/g, '[$&]')}*`
  const readings: (Condition | undefined)[] = [
    reader.is('sessionId', word),
    { sql: 'shortId = ?', values: [word.toLowerCase()] },
    { sql: 'name = ? OR friendlyName = ?', values: [word, word] },
    { sql: 'foreignId = ?', values: [word] },
    {
      sql: 'shortId GLOB ? OR name GLOB ? OR friendlyName GLOB ?',
      values: [start.toLowerCase(), start, start],
    },
  ]
  if (word === '') return []
  for (const reading of readings) {
    const where = [isSession, reading]
    const found = reader.select({ table: 'sessions', where, order: 'firstSeq DESC', limit: limitOf(limit) })
    if (found.length > 0) return found.map(shape)
  }
  return []
}

/** The part of a query that walks from a session to all its descendants; a cycle ends it. */
export const subtreeSql = `WITH RECURSIVE tree (sessionId, level) AS (
  SELECT ?, 0
  UNION
  SELECT child.sessionId, level + 1 FROM sessions child JOIN tree ON child.parentId = tree.sessionId
  WHERE level < 100
)`

export function subtree(reader: RowReader, sessionId: string, limit?: number): SessionRow[] {
  const sql = `${subtreeSql} SELECT ${columnsOf('sessions', 's.')} FROM
    (SELECT sessionId, min(level) AS level FROM tree GROUP BY sessionId) found
    JOIN sessions s ON s.sessionId = found.sessionId
    WHERE s.firstSeq IS NOT NULL ORDER BY found.level, s.firstSeq LIMIT ?`
  return reader.rows('sessions', { sql, values: [reader.words.number(sessionId), limitOf(limit)] }).map(shape)
}

function flag(sql: string, wanted: boolean | undefined): Condition | undefined {
  return wanted === undefined ? undefined : { sql: wanted ? sql : `NOT (${sql})`, values: [] }
}

function shape(row: Fields): SessionRow {
  counted(row, ['events', 'messages', 'agents', 'handoffs', 'handoffLoops', ...toolCounts, ...callCounts])
  priced(row)
  return row as unknown as SessionRow
}
