import type { Fragment, SearchHit } from '../../contract/index-rows.ts'
import type { RowValue } from '../../contract/row-op.ts'
import type { SearchFilter, SearchQueries } from '../../ports/index.ts'
import { openBuilt } from './open-built.ts'
import { limitOf } from './page.ts'
import { expressionOf } from './search-expression.ts'
import { hitMarks as marks, searchSchema } from './search-schema.ts'
import { Statements } from './statements.ts'

// Ranking looks at every match; beyond this many, only the newest are ranked.
const mostRanked = 5000
// A title says more than a body; operators only filter.
const weights = '4.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0'
// Numbers are bound as doubles, and FTS5 takes no rowid that is one: it would answer with every match.
const hitSql = `SELECT docs.seq AS seq, atMs, docs.session AS session, docs.type AS type, docs.tool AS tool,
    docs.status AS status, highlight(found, 0, ?, ?) AS title, snippet(found, 1, ?, ?, '…', 24) AS snippet
  FROM found JOIN docs ON docs.seq = found.rowid
  WHERE found MATCH ? AND found.rowid = CAST(? AS INTEGER)`

/** Opens full text for questions. After a rebuild it must be opened again. */
export function openSearchQueries(path: string): SearchQueries {
  const { db, meta } = openBuilt(path, searchSchema)
  const reader = new Statements(db)
  return {
    search: (query, filter = {}) => search(reader, query, filter),
    position: () => meta.position(),
    close: () => reader.close(),
  }
}

function search(reader: Statements, query: string, filter: SearchFilter): SearchHit[] {
  const expression = expressionOf(query, filter)
  if (expression === undefined) return []
  const { start, end } = marks
  return seqs(reader, expression, filter)
    .flatMap((seq) => reader.objects(hitSql, [start, end, start, end, expression, seq]))
    .map(hit)
}

function seqs(reader: Statements, expression: string, { order, limit }: SearchFilter): number[] {
  const newest = 'FROM found WHERE found MATCH ? ORDER BY rowid DESC LIMIT ?'
  const rows =
    order === 'newest'
      ? reader.objects(`SELECT rowid AS seq ${newest}`, [expression, limitOf(limit ?? 20)])
      : reader.objects(
          `SELECT seq FROM (SELECT rowid AS seq, bm25(found, ${weights}) AS score ${newest}) ORDER BY score, seq DESC LIMIT ?`,
          [expression, mostRanked, limitOf(limit ?? 20)],
        )
  return rows.map((row) => Number(row['seq']))
}

function hit(row: Record<string, RowValue>): SearchHit {
  const { session, title, snippet, ...rest } = row
  return {
    ...rest,
    sessionId: `ses_${String(session).slice(0, 26)}`,
    title: fragments(title),
    snippet: fragments(snippet),
  } as unknown as SearchHit
}

function fragments(marked: unknown): Fragment[] {
  if (typeof marked !== 'string') return []
  return marked
    .split(marks.start)
    .flatMap((part, i): Fragment[] => {
      if (i === 0) return [{ text: part, isHit: false }]
      const [found = '', rest = ''] = part.split(marks.end)
      return [
        { text: found, isHit: true },
        { text: rest, isHit: false },
      ]
    })
    .filter(({ text }) => text !== '')
}
