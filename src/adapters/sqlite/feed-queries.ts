import type { FeedRow } from '../../contract/index-rows.ts'
import type { FeedFilter } from '../../ports/index.ts'
import { between, limitOf } from './page.ts'
import { type Condition, columnsOf, type RowReader } from './row-reader.ts'

// SQLite joins at most 500 selects; there are fewer types than this.
const mostTypes = 200

/** A page of the feed: forward from `after`, or backward from the end or from `before`. */
export function events(reader: RowReader, filter: FeedFilter): FeedRow[] {
  const order = filter.after === undefined ? 'DESC' : 'ASC'
  const limit = limitOf(filter.limit)
  const types = filter.types === undefined ? undefined : [...new Set(filter.types)].slice(0, mostTypes)
  if (types?.length === 0) return []
  const { sessionId } = filter
  const page = between('seq', filter)
  // Within one session its own index is walked and types are tested on the way.
  const isWalked = types === undefined || sessionId !== undefined
  const arms = isWalked
    ? [
        [
          ...page,
          reader.is('sessionId', sessionId),
          reader.is('runId', filter.runId),
          reader.isOneOf('type', types),
        ],
      ]
    : types.map((type) => [...page, reader.is('type', type)])
  const selects = arms.map(select)
  // One ordered walk for each type, merged: an IN over types would sort every event of them first.
  return reader.rows('events', {
    sql: `${selects.map(({ sql }) => sql).join(' UNION ALL ')} ORDER BY seq ${order} LIMIT ?`,
    values: [...selects.flatMap(({ values }) => values), limit],
  }) as unknown as FeedRow[]
}

function select(conditions: readonly (Condition | undefined)[]): Condition {
  const given = conditions.filter((condition) => condition !== undefined)
  const tests = given.map(({ sql }) => sql).join(' AND ')
  return {
    sql: `SELECT ${columnsOf('events')} FROM events${tests === '' ? '' : ` WHERE ${tests}`}`,
    values: given.flatMap(({ values }) => values),
  }
}
