import type { RunRow, SessionRow, SpanRow } from '../../contract/index-rows.ts'
import { tables } from '../../contract/index-tables.ts'
import type { RunFilter, SessionFilter, SpanFilter } from '../../ports/index.ts'
import { between, type Condition, columnsOf, type Fields, limitOf, type RowReader } from './row-reader.ts'

// A row that only carries totals of the fleet's own model calls is no session.
const isSession: Condition = { sql: 'firstSeq IS NOT NULL', values: [] }

export function sessions(reader: RowReader, filter: SessionFilter): SessionRow[] {
  const { parentId, isRoot, isOpen, text } = filter
  const like = text === undefined ? undefined : `%${text.replace(/[%_\\]/g, '\\$&')}%`
  return reader.select({
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
  }) as SessionRow[]
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

export function subtree(reader: RowReader, sessionId: string, limit?: number): SessionRow[] {
  const sql = `${subtreeSql} SELECT ${columnsOf('sessions', 's.')} FROM
    (SELECT sessionId, min(level) AS level FROM tree GROUP BY sessionId) found
    JOIN sessions s ON s.sessionId = found.sessionId
    WHERE s.firstSeq IS NOT NULL ORDER BY found.level, s.firstSeq LIMIT ?`
  const values = [reader.words.number(sessionId), limitOf(limit)]
  return reader.rows(tables.sessions.columns, { sql, values }) as SessionRow[]
}

function flag(sql: string, wanted: boolean | undefined): Condition | undefined {
  return wanted === undefined ? undefined : { sql: wanted ? sql : `NOT (${sql})`, values: [] }
}

export function runs(reader: RowReader, filter: RunFilter): RunRow[] {
  const { isOpen, isAgent, workingDir, isNewestFirst } = filter
  const found = reader.select({
    table: 'runs',
    where: [
      { sql: 'firstSeq IS NOT NULL', values: [] },
      ...between('firstSeq', filter),
      reader.is('runId', filter.runId),
      reader.is('sessionId', filter.sessionId),
      reader.is('parentRunId', filter.parentRunId),
      isOpen === undefined
        ? undefined
        : { sql: isOpen ? 'status IS NULL' : 'status IS NOT NULL', values: [] },
      isAgent ? { sql: 'spanId IS NOT NULL', values: [] } : undefined,
      workingDir === undefined
        ? undefined
        : {
            sql: 'sessionId IN (SELECT sessionId FROM sessions WHERE workingDir = ?)',
            values: [reader.words.number(workingDir)],
          },
    ],
    order: isNewestFirst ? 'firstSeq DESC' : 'firstSeq',
    limit: limitOf(filter.limit),
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
  row['durationMs'] ??= elapsed(row)
  return row as RunRow
}

/** What an end did not say itself: the time between the two events. */
function elapsed(row: Fields): number | null {
  const { startedMs, endedMs } = row
  return typeof startedMs === 'number' && typeof endedMs === 'number'
    ? Math.max(endedMs - startedMs, 0)
    : null
}

export function spans(reader: RowReader, filter: SpanFilter): SpanRow[] {
  const { sessionId, isOpen } = filter
  return reader
    .select({
      table: 'spans',
      where: [
        ...between('seq', filter),
        reader.is('sessionId', sessionId),
        // With both, the index of the session is the one to walk: a trace may hold many sessions.
        reader.is(sessionId === undefined ? 'traceId' : '+traceId', filter.traceId),
        isOpen === undefined
          ? undefined
          : { sql: isOpen ? 'endType IS NULL' : 'endType IS NOT NULL', values: [] },
      ],
      order: 'seq',
      limit: limitOf(filter.limit),
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
  row['durationMs'] ??= elapsed(row)
  return row as SpanRow
}
