import type { SessionId } from '../../contract/ids.ts'
import type { RunRow, SessionRow, SpanRow } from '../../contract/index-rows.ts'
import { tables } from '../../contract/index-tables.ts'
import type { AgentCount, RunFilter, SessionFilter, SpanFilter } from '../../ports/index.ts'
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
  return reader.select('sessions', {
    ...selectionOf(reader, filter),
    page: filter,
    by: 'firstSeq',
    order: 'firstSeq DESC',
  }) as SessionRow[]
}

/** How many there are, whatever the page. */
export function sessionCount(reader: RowReader, { before: _b, after: _a, ...filter }: SessionFilter): number {
  return reader.count('sessions', selectionOf(reader, filter))
}

function selectionOf(reader: RowReader, filter: SessionFilter) {
  const { parentId, agentType, origin, workingDir, text } = filter
  const like = text === undefined ? undefined : `%${text.replace(/[%_\\]/g, '\\$&')}%`
  return {
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
  }
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

// A run that has no beginning of its own is an agent when somebody works for it, as in journals of before.
const isAgentSql =
  'spanId IS NOT NULL OR EXISTS (SELECT 1 FROM runs below WHERE below.parentRunId = runs.runId)'

// The turns of a session that works for a run have the same parent as it: they are its own.
const isInsideSql = `spanId IS NOT NULL AND parentRunId IS NOT NULL AND parentRunId IS NOT
  (SELECT s.parentRunId FROM sessions s WHERE s.sessionId = runs.sessionId)`

export function runs(reader: RowReader, filter: RunFilter): RunRow[] {
  const { runId, sessionId, parentRunId, isOpen, isAgent, isInside, workingDir, isNewestFirst } = filter
  const found = reader.select('runs', {
    page: filter,
    by: 'firstSeq',
    equal: { runId, sessionId, parentRunId },
    where: [
      isRun,
      isWithin(reader, filter.within),
      flag('status IS NULL', isOpen),
      isAgent ? { sql: isAgentSql, values: [] } : undefined,
      isInside ? { sql: isInsideSql, values: [] } : undefined,
      workingDir === undefined
        ? undefined
        : {
            sql: 'sessionId IN (SELECT sessionId FROM sessions WHERE workingDir = ?)',
            values: [reader.words.number(workingDir)],
          },
    ],
    order: isNewestFirst ? 'firstSeq DESC' : 'firstSeq',
  })
  return shaped(reader, found)
}

const isRun: Condition = { sql: 'firstSeq IS NOT NULL', values: [] }

/** The most exact reading of a word that any agent inside of a session fits; one that is at work before those that ended. */
export function findAgents(reader: RowReader, word: string, limit?: number): RunRow[] {
  const name: Condition = {
    sql: 'agentId = ? OR agentType = ?',
    values: [reader.words.number(word), reader.words.number(word)],
  }
  const start = `${word.toLowerCase().replace(/[*?[]/g, '[$&]')}*`
  const readings: (readonly (Condition | undefined)[])[] = [
    // Also one that is no agent inside of a session: who knows the whole id means it.
    [{ sql: isAgentSql, values: [] }, reader.is('runId', word)],
    [inside, { sql: 'shortId = ?', values: [word.toLowerCase()] }],
    [inside, name, { sql: 'status IS NULL', values: [] }],
    [inside, name],
    [inside, { sql: 'shortId GLOB ?', values: [start] }],
  ]
  if (word === '') return []
  for (const where of readings) {
    const found = reader.select('runs', {
      page: { limit },
      by: 'firstSeq',
      where: [isRun, ...where],
      order: 'firstSeq DESC',
    })
    if (found.length > 0) return shaped(reader, found)
  }
  return []
}

const inside: Condition = { sql: isInsideSql, values: [] }

/** How many agents work inside of sessions, and how many have ended there; sessions without any are left out. */
export function agentCounts(reader: RowReader, sessionIds: readonly string[]): AgentCount[] {
  if (sessionIds.length === 0) return []
  const sql = `SELECT sessionId, sum(status IS NULL) AS running, sum(status IS NOT NULL) AS ended FROM runs
    WHERE sessionId IN (${sessionIds.map(() => '?').join(', ')}) AND ${isInsideSql} GROUP BY sessionId`
  const values = sessionIds.map((id) => reader.words.number(id))
  return reader.all(sql, values).map(({ sessionId, running, ended }) => ({
    sessionId: (reader.words.word(Number(sessionId)) ?? '') as SessionId,
    running: Number(running),
    ended: Number(ended),
  }))
}

function shaped(reader: RowReader, found: readonly Fields[]): RunRow[] {
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
        isWithin(reader, filter.within),
      ],
    })
    .map(spanShape)
}

export function toolCounts(
  reader: RowReader,
  { sessionId, runId }: { readonly sessionId: string; readonly runId?: string | undefined },
): { tool: string; count: number }[] {
  const conditions = [reader.is('sessionId', sessionId), reader.is('runId', runId)].filter(
    (one) => one !== undefined,
  )
  const sql = `SELECT tool, count(*) AS count FROM spans WHERE ${conditions.map((one) => one.sql).join(' AND ')}
    AND tool IS NOT NULL GROUP BY tool ORDER BY min(seq)`
  const values = conditions.flatMap((one) => one.values)
  return reader.all(sql, values).map(({ tool, count }) => ({
    tool: reader.words.word(Number(tool)) ?? 'unknown',
    count: Number(count),
  }))
}

function spanShape(row: Fields): SpanRow {
  row['status'] ??= 'open'
  row['durationMs'] ??= elapsed(row['startedMs'], row['endedMs'])
  return row as SpanRow
}
