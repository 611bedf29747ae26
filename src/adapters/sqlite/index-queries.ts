import type { FeedRow } from '../../contract/index-rows.ts'
import { tables } from '../../contract/index-tables.ts'
import type { FeedFilter, IndexQueries } from '../../ports/index.ts'
import { openBuilt } from './open-follower.ts'
import { between, type Condition, columnsOf, limitOf, RowReader } from './row-reader.ts'
import { indexSchema } from './schemas.ts'
import {
  agentCounts,
  findAgents,
  findSessions,
  isWithin,
  runs,
  sessionCount,
  sessions,
  spans,
  subtree,
  toolCounts,
} from './session-queries.ts'
import { counts, ledger, parked, stats, usage } from './usage-queries.ts'
import { approvalLatency, approvals, messages, tasks, workflows } from './work-queries.ts'

/** Opens the index for questions. After a rebuild it must be opened again: it still sees the old file. */
export function openIndexQueries(path: string): IndexQueries {
  const { db, meta } = openBuilt(path, indexSchema)
  const reader = new RowReader(db)
  return {
    sessions: (filter) => sessions(reader, filter),
    sessionCount: (filter) => sessionCount(reader, filter),
    findSessions: (word, limit) => findSessions(reader, word, limit),
    subtree: (sessionId, limit) => subtree(reader, sessionId, limit),
    runs: (filter) => runs(reader, filter),
    findAgents: (word, limit) => findAgents(reader, word, limit),
    agentCounts: (sessionIds) => agentCounts(reader, sessionIds),
    tasks: (filter) => tasks(reader, filter),
    messages: (filter) => messages(reader, filter),
    approvals: (filter) => approvals(reader, filter),
    approvalLatency: (filter) => approvalLatency(reader, filter),
    workflows: (filter) => workflows(reader, filter),
    spans: (filter) => spans(reader, filter),
    toolCounts: (of) => toolCounts(reader, of),
    ledger: (filter) => ledger(reader, filter),
    usage: (filter) => usage(reader, filter),
    events: (filter) => events(reader, filter),
    stats: (filter) => stats(reader, filter),
    counts: () => counts(reader, meta.position().seq),
    parked: (limit) => parked(reader, limit),
    position: () => meta.position(),
    close: () => reader.close(),
  }
}

// SQLite joins at most 500 selects; there are fewer types than this.
const mostTypes = 200

/** A page of the feed: forward from `after`, or backward from the end or from `before`. */
export function events(reader: RowReader, filter: FeedFilter): FeedRow[] {
  const order = filter.after === undefined ? 'DESC' : 'ASC'
  const limit = limitOf(filter.limit)
  const types = filter.types === undefined ? undefined : [...new Set(filter.types)].slice(0, mostTypes)
  if (types?.length === 0) return []
  const { sessionId } = filter
  const page = [...between('seq', filter), isWithin(reader, filter.within)]
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
  return reader.rows(tables.events.columns, {
    sql: `${selects.map(({ sql }) => sql).join(' UNION ALL ')} ORDER BY seq ${order} LIMIT ?`,
    values: [...selects.flatMap(({ values }) => values), limit],
  }) as FeedRow[]
}

function select(conditions: readonly (Condition | undefined)[]): Condition {
  const given = conditions.filter((condition) => condition !== undefined)
  const tests = given.map(({ sql }) => sql).join(' AND ')
  return {
    sql: `SELECT ${columnsOf('events')} FROM events${tests === '' ? '' : ` WHERE ${tests}`}`,
    values: given.flatMap(({ values }) => values),
  }
}
