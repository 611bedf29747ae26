import type { IndexQueries } from '../../ports/index.ts'
import { events } from './feed-queries.ts'
import { indexSchema } from './index-schema.ts'
import { openBuilt } from './open-built.ts'
import { RowReader } from './row-reader.ts'
import { runs } from './run-queries.ts'
import { findSessions, sessions, subtree } from './session-queries.ts'
import { spans, toolCounts } from './span-queries.ts'
import { counts, parked, stats } from './stats-queries.ts'
import { ledger, usage } from './usage-queries.ts'
import { approvalLatency, approvals, messages, tasks, workflows } from './work-queries.ts'

/** Opens the index for questions. After a rebuild it must be opened again: it still sees the old file. */
export function openIndexQueries(path: string): IndexQueries {
  const { db, meta } = openBuilt(path, indexSchema)
  const reader = new RowReader(db)
  return {
    sessions: (filter) => sessions(reader, filter),
    findSessions: (word, limit) => findSessions(reader, word, limit),
    subtree: (sessionId, limit) => subtree(reader, sessionId, limit),
    runs: (filter) => runs(reader, filter),
    tasks: (filter) => tasks(reader, filter),
    messages: (filter) => messages(reader, filter),
    approvals: (filter) => approvals(reader, filter),
    approvalLatency: (filter) => approvalLatency(reader, filter),
    workflows: (filter) => workflows(reader, filter),
    spans: (filter) => spans(reader, filter),
    toolCounts: (sessionId) => toolCounts(reader, sessionId),
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
