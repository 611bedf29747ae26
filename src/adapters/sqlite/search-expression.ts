/** What a query is narrowed to besides its words. */
export type Narrowing = { readonly sessionId?: string; readonly type?: string }

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
export function expressionOf(query: string, { sessionId, type }: Narrowing = {}): string | undefined {
  const terms: (string | undefined)[] = []
  for (const [whole, operator, phrase, star, word] of plain(query).slice(0, longest).matchAll(pieces)) {
    if (terms.length === mostTerms) break
    const column = operator?.toLowerCase()
    const text = phrase ?? word ?? ''
    if (column === undefined || !operators.has(column)) {
      terms.push(term('{title body}', operator === undefined ? text : whole, star !== undefined))
    } else {
      terms.push(term(column, valueFor(column, text), star !== undefined))
    }
  }
  // Narrowing alone finds nothing: a search without words is a list, which the feed gives.
  if (terms.every((found) => found === undefined)) return undefined
  if (sessionId !== undefined) terms.push(term('session', valueFor('session', plain(sessionId)), false))
  if (type !== undefined) terms.push(term('type', plain(type), false))
  return terms.filter((found) => found !== undefined).join(' AND ')
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
