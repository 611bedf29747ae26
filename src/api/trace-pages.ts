import type { FeedRow, RunRow, SessionRow, SpanRow } from '../contract/index-rows.ts'
import type { RouteOutput } from '../contract/routes.ts'
import { markTypes } from '../core/trace/trace-marks.ts'
import type { Index } from '../ports/index.ts'

type Asked = {
  readonly row: SessionRow
  readonly run: RunRow | undefined
  readonly after?: number | undefined
  readonly limit: number
}

/** Sessions of one trace; more than this are found by their own. */
const mostSessions = 5000

/** One page of a trace: all spans and marks whose first event is in a stretch of the journal, and where the next begins. */
export async function tracePage(
  index: Index,
  { row, run, after = 0, limit }: Asked,
): Promise<RouteOutput<'listTrace'>> {
  // Asked for first: whatever is written while the page is read is told again by the events after this.
  const { seq } = await index.ask('position')
  const tree = await index.ask('subtree', row.sessionId, mostSessions)
  const among = tree.length > 1 ? { within: row.sessionId } : { sessionId: row.sessionId }
  const spans: SpanRow[] = await index.ask('spans', { ...among, after, limit })
  const spansEnd = spans.length < limit ? undefined : spans.at(-1)?.seq
  const marks: FeedRow[] = await index.ask('events', {
    ...among,
    types: markTypes,
    after,
    limit,
    ...(spansEnd !== undefined && { before: spansEnd + 1 }),
  })
  const end = marks.length < limit ? spansEnd : marks.at(-1)?.seq
  return {
    sessions: tree.map(({ sessionId, parentId }) => ({ sessionId, parentId })),
    runId: run?.runId ?? null,
    spans: end === undefined ? spans : spans.filter((span) => span.seq <= end),
    marks,
    seq,
    next: end ?? null,
  }
}
