import { usage as usageFigures } from '../../contract/index-columns.ts'
import {
  type IndexCounts,
  type LedgerRow,
  type ParkedRow,
  type StatsRow,
  type UsageRow,
  usageColumns,
} from '../../contract/index-rows.ts'
import { tables } from '../../contract/index-tables.ts'
import type { LedgerFilter, StatsFilter, UsageFilter } from '../../ports/index.ts'
import { type Condition, dayOf, limitOf, type RowReader, sumSql } from './row-reader.ts'
import { subtreeSql } from './session-queries.ts'

export function ledger(reader: RowReader, filter: LedgerFilter): LedgerRow[] {
  const { sessionId } = filter
  return reader.select('ledger', { page: filter, by: 'seq', equal: { sessionId } }) as LedgerRow[]
}

const sums = Object.keys(usageFigures).map(sumSql).join(', ')

const groups = {
  session: { table: 'sessions', column: 'sessionId' },
  run: { table: 'runs', column: 'runId' },
  model: { table: 'ledger', column: 'model' },
} as const

/** Sums over a session, its subtree or everything. Sessions and runs carry their own sums; models are added up. */
export function usage(reader: RowReader, { sessionId, isSubtree, by }: UsageFilter): UsageRow[] {
  const { table, column } = groups[by ?? 'session']
  const scope = scopeOf(reader, sessionId, isSubtree === true)
  const sql = `${scope.head} SELECT ${by === undefined ? 'NULL' : column} AS grouped, ${sums}
    FROM ${table} WHERE calls > 0${scope.test}
    ${by === undefined ? '' : `GROUP BY ${column} ORDER BY total(tokens) DESC, ${column}`} LIMIT 1000`
  return reader.rows(usageColumns, { sql, values: scope.values }) as UsageRow[]
}

type Scope = { readonly head: string; readonly test: string; readonly values: Condition['values'] }

function scopeOf(reader: RowReader, sessionId: string | undefined, isSubtree: boolean): Scope {
  if (sessionId === undefined) return { head: '', test: '', values: [] }
  const values = [reader.words.number(sessionId)]
  if (!isSubtree) return { head: '', test: ' AND sessionId = ?', values }
  return { head: subtreeSql, test: ' AND sessionId IN (SELECT sessionId FROM tree)', values }
}

const { key: slices, columns } = tables.rollups
const counters = Object.keys(columns).filter((name) => !slices.some((slice) => slice === name))

/** Counters cut by any of day, session, actor, workflow and phase. */
export function stats(reader: RowReader, filter: StatsFilter): StatsRow[] {
  const by = slices.filter((slice) => filter.by?.includes(slice))
  const where = [
    reader.is('sessionId', filter.sessionId),
    day('>=', filter.fromDay),
    day('<=', filter.toDay),
  ].filter((condition) => condition !== undefined)
  const sql = `SELECT ${slices.map((slice) => (by.includes(slice) ? slice : `NULL AS ${slice}`)).join(', ')},
    ${counters.map(sumSql).join(', ')} FROM rollups
    ${where.length === 0 ? '' : `WHERE ${where.map((condition) => condition.sql).join(' AND ')}`}
    ${by.length === 0 ? '' : `GROUP BY ${by.join(', ')} ORDER BY ${by.join(', ')}`} LIMIT ?`
  const values = [...where.flatMap((condition) => condition.values), limitOf(filter.limit)]
  return reader.rows(tables.rollups.columns, { sql, values }) as StatsRow[]
}

function day(operator: string, date: string | undefined): Condition | undefined {
  return date === undefined ? undefined : { sql: `day ${operator} ?`, values: [dayOf(date)] }
}

/** Sizes from what is already counted: counting the feed itself would walk all of it. */
export function counts(reader: RowReader, lastSeq: number): IndexCounts {
  const count = (sql: string): number => Number(reader.all(sql)[0]?.['n'] ?? 0)
  return {
    lastSeq,
    events: count('SELECT total(events) AS n FROM rollups'),
    sessions: count('SELECT count(*) AS n FROM sessions WHERE firstSeq IS NOT NULL'),
    runs: count('SELECT count(*) AS n FROM runs WHERE firstSeq IS NOT NULL'),
    spans: count('SELECT count(*) AS n FROM spans'),
    openSpans: count('SELECT count(*) AS n FROM spans WHERE endType IS NULL'),
    parked: count('SELECT count(*) AS n FROM parked'),
  }
}

export function parked(reader: RowReader, limit?: number): ParkedRow[] {
  return reader.select('parked', { page: { limit }, by: 'seq', order: 'seq DESC' }) as ParkedRow[]
}
