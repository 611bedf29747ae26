import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { AgentEvent } from '../../contract/event.ts'
import { shortId } from '../../contract/ids.ts'
import type { RowValue } from '../../contract/index-columns.ts'
import type { SearchText } from '../../contract/row-op.ts'
import type { Applied, Follower, Opened, Position } from '../../ports/index.ts'
import { asRefusal, errorText } from './database.ts'
import { type Meta, openFollower, takeNew } from './open-follower.ts'
import { hitMarks, searchColumns, searchSchema } from './schemas.ts'
import { clean, insertSql } from './table-writer.ts'
import { wordParts } from './word-parts.ts'

type TextOf = (event: AgentEvent) => SearchText | undefined
type Doc = { readonly seq: number; readonly atMs: number; readonly texts: readonly RowValue[] }
type Parked = Applied['parked'][number]

/** Opens full text for its one writer. It has a file and a cursor of its own, so it may lag behind the index. */
export function openSearch(path: string, textOf: TextOf, watermark = Infinity): Opened<Follower> {
  return openFollower(
    { path, schema: searchSchema, watermark },
    (db, meta) => new SearchWriter(db, meta, textOf),
  )
}

class SearchWriter implements Follower {
  readonly #db: DatabaseSync
  readonly #meta: Meta
  readonly #textOf: TextOf
  readonly #addDoc: StatementSync
  readonly #addWords: StatementSync
  readonly #park: StatementSync
  readonly #find: StatementSync
  readonly #removeDoc: StatementSync
  readonly #removeWords: StatementSync
  #position: Position

  constructor(db: DatabaseSync, meta: Meta, textOf: TextOf) {
    this.#db = db
    this.#meta = meta
    this.#textOf = textOf
    db.exec('PRAGMA secure_delete = ON')
    this.#addDoc = db.prepare(insertSql('docs', ['seq', 'atMs', ...searchColumns]))
    this.#addWords = db.prepare(insertSql('found', ['rowid', ...searchColumns]))
    this.#park = db.prepare("INSERT INTO parked VALUES (?, 'search', ?) ON CONFLICT DO NOTHING")
    this.#find = db.prepare(`SELECT ${searchColumns.join(', ')} FROM docs WHERE seq = ?`)
    this.#find.setReturnArrays(true)
    this.#removeDoc = db.prepare('DELETE FROM docs WHERE seq = ?')
    // The index holds no text, so it is told what it has to forget.
    this.#removeWords = db.prepare(insertSql('found', ['found', 'rowid', ...searchColumns]))
    this.#position = meta.position()
  }

  position(): Position {
    return this.#position
  }

  apply(events: readonly AgentEvent[]): Applied {
    let isErased = false
    try {
      this.#db.exec('BEGIN IMMEDIATE')
      const { position, applied, parked } = takeNew(events, this.#position, (event) => {
        const problem = this.#take(event)
        if (event.type === 'journal.erased')
          for (const seq of event.payload.seqs) isErased = this.#erase(seq) || isErased
        return problem
      })
      this.#meta.move(position)
      this.#db.exec('COMMIT')
      this.#position = position
      // The log still has the pages from before.
      if (isErased) this.#db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      return { applied, parked, isStale: false }
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK')
      throw asRefusal(error)
    }
  }

  close(): void {
    this.#db.close()
  }

  #take(event: AgentEvent): Parked | undefined {
    let doc: Doc | undefined
    try {
      doc = docOf(event, this.#textOf(event))
    } catch (error) {
      // Whatever an event makes the text function throw, the ones behind it must be found.
      const parked = { seq: event.seq, error: errorText(error) }
      this.#park.run(parked.seq, parked.error)
      return parked
    }
    if (doc === undefined) return undefined
    this.#addDoc.run(doc.seq, doc.atMs, ...doc.texts)
    this.#addWords.run(doc.seq, ...doc.texts)
    return undefined
  }

  #erase(seq: number): boolean {
    const texts = this.#find.get(seq) as unknown as RowValue[] | undefined
    if (texts === undefined) return false
    this.#removeWords.run('delete', seq, ...texts)
    this.#removeDoc.run(seq)
    return true
  }
}

function docOf(event: AgentEvent, text: SearchText | undefined): Doc | undefined {
  if (text === undefined) return undefined
  const atMs = Date.parse(event.timestamp)
  if (Number.isNaN(atMs)) throw new Error(`event ${event.seq} has the timestamp ${event.timestamp}`)
  const session = `${event.sessionId.slice(4)} ${shortId(event.sessionId)}`
  const parts = wordParts(`${text.title ?? ''} ${text.body ?? ''}`)
  const texts = [text.title, text.body, text.tool, text.files, text.status, event.type, session, parts]
  // The marks around hits are control characters: a text that has some of its own must not look like one.
  return { seq: event.seq, atMs, texts: texts.map((part) => marksOut(clean(part ?? null))) }
}

function marksOut(text: RowValue): RowValue {
  if (typeof text !== 'string') return text
  return text.replaceAll(hitMarks.start, ' ').replaceAll(hitMarks.end, ' ')
}
