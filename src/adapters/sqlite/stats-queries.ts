import type { IndexCounts, ParkedRow, StatsRow } from '../../contract/index-rows.ts'
import type { StatsFilter } from '../../ports/index.ts'
import { limitOf } from './page.ts'
import type { Condition, Fields, RowReader } from './row-reader.ts'
import { counted, dateOf, dayOf, noneIfEmpty, priced } from './shape.ts'
import { rollupCounters, sumSql } from './sum-sql.ts'

const slices = ['day', 'sessionId', 'actor', 'workflowId', 'phase'] as const
const figures = new Set(['input', 'output', 'cacheRead', 'cacheWrite', 'reasoning', 'tokens', 'costNano'])
const counters = rollupCounters.filter((name) => !figures.has(name))

/** Counters cut by any of day, session, actor, workflow and phase. */
export function stats(reader: RowReader, filter: StatsFilter): StatsRow[] {
  const by = slices.filter((slice) => filter.by?.includes(slice))
  const where = [
    reader.is('sessionId', filter.sessionId),
    day('>=', filter.fromDay),
    day('<=', filter.toDay),
  ].filter((condition) => condition !== undefined)
  const sql = `SELECT ${slices.map((slice) => (by.includes(slice) ? slice : `NULL AS ${slice}`)).join(', ')},
    ${rollupCounters.map(sumSql).join(', ')} FROM rollups
    ${where.length === 0 ? '' : `WHERE ${where.map((condition) => condition.sql).join(' AND ')}`}
    ${by.length === 0 ? '' : `GROUP BY ${by.join(', ')} ORDER BY ${by.join(', ')}`} LIMIT ?`
  const values = [...where.flatMap((condition) => condition.values), limitOf(filter.limit)]
  return reader.all(sql, values).map((row) => shape(reader, row))
}

function day(operator: string, date: string | undefined): Condition | undefined {
  return date === undefined ? undefined : { sql: `day ${operator} ?`, values: [dayOf(date)] }
}

function shape(reader: RowReader, row: Fields): StatsRow {
  counted(row, counters)
  priced(row)
  for (const name of ['sessionId', 'actor', 'workflowId', 'phase']) {
    const no = row[name]
    if (typeof no === 'number') row[name] = reader.words.word(no)
  }
  noneIfEmpty(row, ['workflowId', 'phase'])
  row['day'] = dateOf(row['day'])
  return row as unknown as StatsRow
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
  const order = 'seq DESC'
  return reader.select({ table: 'parked', order, limit: limitOf(limit) }) as unknown as ParkedRow[]
}
