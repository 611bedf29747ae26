import type { RowValue } from '../../contract/index-columns.ts'
import type { Fragment, SearchHit } from '../../contract/index-rows.ts'
import type { SearchFilter, SearchQueries } from '../../ports/index.ts'
import { Statements } from './database.ts'
import { openBuilt } from './open-follower.ts'
import { limitOf } from './row-reader.ts'
import { hitMarks as marks, searchSchema } from './schemas.ts'
import { denseParts, partsOfName } from './word-parts.ts'

// Ranking looks at every match; beyond this many, only the newest are ranked.
const mostRanked = 5000
// A title says more than a body; operators only filter.
const weights = '4.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5'
// Numbers are bound as doubles, and FTS5 takes no rowid that is one: it would answer with every match.
const hitSql = `SELECT docs.seq AS seq, atMs, docs.session AS session, docs.type AS type, docs.tool AS tool,
    docs.status AS status, highlight(found, 0, ?, ?) AS title, snippet(found, 1, ?, ?, '…', 24) AS snippet, docs.body AS body
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
  const expression = filter.sessions?.length === 0 ? undefined : expressionOf(query, filter)
  if (expression === undefined) return []
  const { start, end } = marks
  return seqs(reader, expression, filter)
    .flatMap((seq) => reader.objects(hitSql, [start, end, start, end, expression, seq]))
    .map((row) => hit(row, query))
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

function hit(row: Record<string, RowValue>, query: string): SearchHit {
  const { session, title, snippet, body, ...rest } = row
  const isMarked = [title, snippet].some((text) => typeof text === 'string' && text.includes(marks.start))
  return {
    ...rest,
    sessionId: `ses_${String(session).slice(0, 26)}`,
    title: fragments(isMarked ? title : markedInside(title, query)),
    snippet: fragments(isMarked ? snippet : (markedInside(body, query, around) ?? snippet)),
  } as unknown as SearchHit
}

const around = 60

/** Marks what was found inside of words, of which the index itself does not know the place. */
function markedInside(text: unknown, query: string, keep = Infinity): unknown {
  if (typeof text !== 'string') return text
  const lower = text.toLowerCase()
  const looked = query
    .toLowerCase()
    .split(/[\s"*]+/)
    .filter((word) => word !== '')
  const found = looked.map((word) => ({ word, at: lower.indexOf(word) })).find(({ at }) => at >= 0)
  if (!found || lower.length !== text.length) return keep === Infinity ? text : undefined
  const { at, word } = found
  const [from, to] = [Math.max(0, at - keep), Math.min(text.length, at + word.length + keep)]
  const before = `${from > 0 ? '…' : ''}${text.slice(from, at)}`
  const after = `${text.slice(at + word.length, to)}${to < text.length ? '…' : ''}`
  return `${before}${marks.start}${text.slice(at, at + word.length)}${marks.end}${after}`.toWellFormed()
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

/** What a query is narrowed to besides its words. */
type Narrowing = Pick<SearchFilter, 'sessions' | 'type'>

const operators = new Set(['tool', 'file', 'status', 'session', 'type'])
const synonyms: Readonly<Record<string, string>> = {
  failed: 'error',
  failure: 'error',
  success: 'ok',
  passed: 'ok',
  completed: 'ok',
}

// `op:"a phrase"*`, `op:word`, `"a phrase`, `word`: everything that is not blank is one of these.
const pieces = /(?:([a-z]+):)?(?:"([^"]*)(?:"(\*)?|$)|([^\s"]+))/gi
const longest = 1000
const mostTerms = 32

/**
 * A query of a person as an FTS5 expression, or undefined when it has no word in it. Every term is quoted,
 * so nothing a person types can be syntax; an operator that is not one of ours is a word like any other.
 */
function expressionOf(query: string, { sessions, type }: Narrowing = {}): string | undefined {
  const terms: (string | undefined)[] = []
  for (const [whole, operator, phrase, star, word] of plain(query).slice(0, longest).matchAll(pieces)) {
    if (terms.length === mostTerms) break
    const column = operator?.toLowerCase()
    const text = phrase ?? word ?? ''
    if (column === undefined || !operators.has(column)) {
      terms.push(wordTerm(operator === undefined ? text : whole, star !== undefined))
    } else {
      terms.push(term(column, valueFor(column, text), star !== undefined))
    }
  }
  // Narrowing alone finds nothing: a search without words is a list, which the feed gives.
  if (terms.every((found) => found === undefined)) return undefined
  if (sessions !== undefined) {
    const each = sessions.map((id) => term('session', valueFor('session', plain(id)), false))
    terms.push(`(${each.filter((one) => one !== undefined).join(' OR ')})`)
  }
  if (type !== undefined) terms.push(term('type', plain(type), false))
  return terms.filter((found) => found !== undefined).join(' AND ')
}

const texts = '{title body parts}'

/** A word as it is, or by what is inside of words: pairs of characters, parts of names. */
function wordTerm(text: string, isPrefix: boolean): string | undefined {
  const { runs, rest } = denseParts(text)
  if (runs.length > 0) {
    const each = runs.map((run) => term('parts', run, !/q.*q/.test(run)))
    return [...each, term(texts, rest, isPrefix)].filter((one) => one !== undefined).join(' AND ')
  }
  const whole = term(texts, text, isPrefix)
  const parts = partsOfName(text)
  if (whole === undefined || parts.length < 2) return whole
  return `(${whole} OR ${term(texts, parts.join(' '), isPrefix)})`
}

function term(column: string, text: string, isPrefix: boolean): string | undefined {
  // FTS5 sees no word here, and a phrase of no words finds nothing at all.
  if (!/[\p{L}\p{N}]/u.test(text)) return undefined
  const star = isPrefix || text.endsWith('*') ? '*' : ''
  return `${column} : "${text.replaceAll('"', '""')}"${star}`
}

function valueFor(column: string, text: string): string {
  if (column === 'session') return text.replace(/^ses_/, '')
  return column === 'status' ? (synonyms[text.toLowerCase()] ?? text) : text
}

// SQLite ends a text at a NUL, which would leave a quote open.
const plain = (text: string): string => text.toWellFormed().replaceAll('\0', ' ')
