import type { LedgerRow, UsageRow } from '../../contract/index-rows.ts'
import type { LedgerFilter, UsageFilter } from '../../ports/index.ts'
import { between, limitOf } from './page.ts'
import type { Condition, Fields, RowReader } from './row-reader.ts'
import { subtreeSql } from './session-queries.ts'
import { callCounts, counted, dateOf, noneIfEmpty, priced } from './shape.ts'
import { usageSums } from './sum-sql.ts'

export function ledger(reader: RowReader, filter: LedgerFilter): LedgerRow[] {
  return reader
    .select({
      table: 'ledger',
      where: [...between('seq', filter), reader.is('sessionId', filter.sessionId)],
      order: 'seq',
      limit: limitOf(filter.limit),
    })
    .map((row) => {
      counted(row, callCounts)
      priced(row)
      noneIfEmpty(row, ['workflowId', 'phase'])
      return { ...row, day: dateOf(row['day']) } as unknown as LedgerRow
    })
}

const groups = {
  session: { table: 'sessions', column: 'sessionId' },
  run: { table: 'runs', column: 'runId' },
  model: { table: 'ledger', column: 'model' },
} as const

/** Sums over a session, its subtree or everything. Sessions and runs carry their own sums; models are added up. */
export function usage(reader: RowReader, { sessionId, isSubtree, by }: UsageFilter): UsageRow[] {
  const { table, column } = groups[by ?? 'session']
  const scope = scopeOf(reader, sessionId, isSubtree === true)
  const sql = `${scope.head} SELECT ${by === undefined ? 'NULL' : column} AS grouped, ${usageSums}
    FROM ${table} WHERE calls > 0${scope.test}
    ${by === undefined ? '' : `GROUP BY ${column} ORDER BY total(tokens) DESC, ${column}`} LIMIT 1000`
  return reader.all(sql, scope.values).map((row) => shape(reader, row))
}

type Scope = { readonly head: string; readonly test: string; readonly values: Condition['values'] }

function scopeOf(reader: RowReader, sessionId: string | undefined, isSubtree: boolean): Scope {
  if (sessionId === undefined) return { head: '', test: '', values: [] }
  const values = [reader.words.number(sessionId)]
  if (!isSubtree) return { head: '', test: ' AND sessionId = ?', values }
  return { head: subtreeSql, test: ' AND sessionId IN (SELECT sessionId FROM tree)', values }
}

function shape(reader: RowReader, { grouped, ...sums }: Fields): UsageRow {
  counted(sums, callCounts)
  priced(sums)
  const of = typeof grouped === 'number' ? reader.words.word(grouped) : null
  return { of, ...sums } as unknown as UsageRow
}
