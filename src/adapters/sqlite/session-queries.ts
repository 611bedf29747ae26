import type { RunRow, SessionRow, SpanRow } from '../../contract/index-rows.ts'
import { tables } from '../../contract/index-tables.ts'
import type { RunFilter, SessionFilter, SpanFilter } from '../../ports/index.ts'
import {
  type Condition,
  columnsOf,
  elapsed,
  type Fields,
  flag,
  limitOf,
  type RowReader,
} from './row-reader.ts'

// A row that only carries totals of the fleet's own model calls is no session.
const isSession: Condition = { sql: 'firstSeq IS NOT NULL', values: [] }

export function sessions(reader: RowReader, filter: SessionFilter): SessionRow[] {
  const { parentId, agentType, origin, workingDir, text } = filter
  const like = text === undefined ? undefined : `%${text.replace(/[%_\\]/g, '\\$&')}%`
  return reader.select('sessions', {
    page: filter,
    by: 'firstSeq',
    equal: { parentId, agentType, origin, workingDir },
    where: [
      isSession,
      seenFrom(reader, filter.seenFrom),
      reader.isOneOf('lifecycle', filter.lifecycle),
      flag('parentId IS NULL', filter.isRoot),
      flag('endedMs IS NULL', filter.isOpen),
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
  }) as SessionRow[]
}

/** The most exact reading of a word that any session fits. */
export function findSessions(reader: RowReader, word: string, limit?: number): SessionRow[] {
  const plain = word.replace(/[*?[]/g, '[$&]')
  const start = `${plain}*`
  const readings: (Condition | undefined)[] = [
    reader.is('sessionId', word),
    { sql: 'shortId = ?', values: [word.toLowerCase()] },
    { sql: 'name = ? OR friendlyName = ?', values: [word, word] },
    { sql: 'foreignId = ?', values: [word] },
    // The name that was given, before the kind of agent was put in front of it.
    { sql: 'name GLOB ? OR friendlyName GLOB ?', values: [`*-${plain}`, `*-${plain}`] },
    {
      sql: 'shortId GLOB ? OR name GLOB ? OR friendlyName GLOB ?',
      values: [start.toLowerCase(), start, start],
    },
  ]
  if (word === '') return []
  for (const reading of readings) {
    const found = reader.select('sessions', {
      page: { limit },
      by: 'firstSeq',
      where: [isSession, reading],
      order: 'firstSeq DESC',
    })
    if (found.length > 0) return found as SessionRow[]
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

/** That a row belongs to a session or to one below it. */
export function isWithin(reader: RowReader, sessionId: string | undefined): Condition | undefined {
  if (sessionId === undefined) return undefined
  return {
    sql: `sessionId IN (${subtreeSql} SELECT sessionId FROM tree)`,
    values: [reader.words.number(sessionId)],
  }
}

function seenFrom(reader: RowReader, sessionId: string | undefined): Condition | undefined {
  const within = isWithin(reader, sessionId)
  if (sessionId === undefined || !within) return undefined
  const above = '(SELECT parentId FROM sessions WHERE sessionId = ?)'
  const number = reader.words.number(sessionId)
  return {
    sql: `${within.sql} OR sessionId = ${above} OR parentId = ${above}`,
    values: [...within.values, number, number],
  }
}

export function subtree(reader: RowReader, sessionId: string, limit?: number): SessionRow[] {
  const sql = `${subtreeSql} SELECT ${columnsOf('sessions', 's.')} FROM
    (SELECT sessionId, min(level) AS level FROM tree GROUP BY sessionId) found
    JOIN sessions s ON s.sessionId = found.sessionId
    WHERE s.firstSeq IS NOT NULL ORDER BY found.level, s.firstSeq LIMIT ?`
  const values = [reader.words.number(sessionId), limitOf(limit)]
  return reader.rows(tables.sessions.columns, { sql, values }) as SessionRow[]
}

export function runs(reader: RowReader, filter: RunFilter): RunRow[] {
  const { runId, sessionId, parentRunId, isOpen, isAgent, workingDir, isNewestFirst } = filter
  const found = reader.select('runs', {
    page: filter,
    by: 'firstSeq',
    equal: { runId, sessionId, parentRunId },
    where: [
      { sql: 'firstSeq IS NOT NULL', values: [] },
      isWithin(reader, filter.within),
      flag('status IS NULL', isOpen),
      isAgent ? { sql: 'spanId IS NOT NULL', values: [] } : undefined,
      workingDir === undefined
        ? undefined
        : {
            sql: 'sessionId IN (SELECT sessionId FROM sessions WHERE workingDir = ?)',
            values: [reader.words.number(workingDir)],
          },
    ],
    order: isNewestFirst ? 'firstSeq DESC' : 'firstSeq',
  })
  const folders = new Map<string, string | null>()
  return found.map((row) => runShape(row, folderOf(reader, String(row['sessionId']), folders)))
}

function folderOf(reader: RowReader, sessionId: string, known: Map<string, string | null>): string | null {
  const folder = known.get(sessionId)
  if (folder !== undefined) return folder
  const [row] = reader.all('SELECT workingDir FROM sessions WHERE sessionId = ?', [
    reader.words.number(sessionId),
  ])
  const no = row?.['workingDir']
  const found = typeof no === 'number' ? reader.words.word(no) : null
  known.set(sessionId, found)
  return found
}

function runShape(row: Fields, repoPath: string | null): RunRow {
  row['repoPath'] = repoPath
  row['kind'] ??= row['parentRunId'] === null ? 'main' : 'subagent'
  row['status'] ??= 'running'
  // What an end did not say itself.
  row['durationMs'] ??= elapsed(row['startedMs'], row['endedMs'])
  return row as RunRow
}

export function spans(reader: RowReader, filter: SpanFilter): SpanRow[] {
  const { sessionId, traceId, isOpen } = filter
  return reader
    .select('spans', {
      page: filter,
      by: 'seq',
      equal: { sessionId },
      where: [
        // With both, the index of the session is the one to walk: a trace may hold many sessions.
        reader.is(sessionId === undefined ? 'traceId' : '+traceId', traceId),
        flag('endType IS NULL', isOpen),
      ],
    })
    .map(spanShape)
}

export function toolCounts(reader: RowReader, sessionId: string): { tool: string; count: number }[] {
  const sql =
    'SELECT tool, count(*) AS count FROM spans WHERE sessionId = ? AND tool IS NOT NULL GROUP BY tool ORDER BY min(seq)'
  return reader.all(sql, [reader.words.number(sessionId)]).map(({ tool, count }) => ({
    tool: reader.words.word(Number(tool)) ?? 'unknown',
    count: Number(count),
  }))
}

function spanShape(row: Fields): SpanRow {
  row['status'] ??= 'open'
  row['durationMs'] ??= elapsed(row['startedMs'], row['endedMs'])
  return row as SpanRow
}
