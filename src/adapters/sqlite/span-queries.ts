import type { SpanRow } from '../../contract/index-rows.ts'
import type { SpanFilter } from '../../ports/index.ts'
import { between, limitOf } from './page.ts'
import type { Fields, RowReader } from './row-reader.ts'
import { elapsed } from './run-queries.ts'
import { priced } from './shape.ts'

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
    .map(shape)
}

export function toolCounts(reader: RowReader, sessionId: string): { tool: string; count: number }[] {
  const sql =
    'SELECT tool, count(*) AS count FROM spans WHERE sessionId = ? AND tool IS NOT NULL GROUP BY tool ORDER BY min(seq)'
  return reader.all(sql, [reader.words.number(sessionId)]).map(({ tool, count }) => ({
    tool: reader.words.word(Number(tool)) ?? 'unknown',
    count: Number(count),
  }))
}

function shape(row: Fields): SpanRow {
  priced(row)
  row['status'] ??= 'open'
  row['durationMs'] ??= elapsed(row)
  return { ...row, orphan: row['orphan'] === 1 } as unknown as SpanRow
}
