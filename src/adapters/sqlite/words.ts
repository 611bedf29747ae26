import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { clean } from './table-writer.ts'

const most = 100_000

/** Numbers words for the writer, in the order in which it first meets them. */
export class Words {
  readonly #find: StatementSync
  readonly #last: StatementSync
  readonly #insert: StatementSync
  readonly #known = new Map<string, number>()
  #next: number | undefined

  constructor(db: DatabaseSync) {
    this.#find = db.prepare('SELECT no FROM words WHERE word = ?')
    this.#last = db.prepare('SELECT max(no) AS no FROM words')
    this.#insert = db.prepare('INSERT INTO words VALUES (?, ?)')
  }

  number(word: string): number {
    const known = this.#known.get(word)
    if (known !== undefined) return known
    const kept = String(clean(word))
    const found = this.#find.get(kept)?.['no']
    const no = typeof found === 'number' ? found : this.#add(kept)
    if (this.#known.size >= most) this.#known.clear()
    this.#known.set(word, no)
    return no
  }

  /** After a rollback the numbers given since the last commit are free again. */
  forget(): void {
    this.#known.clear()
    this.#next = undefined
  }

  #add(word: string): number {
    const no = this.#next ?? Number(this.#last.get()?.['no'] ?? 0) + 1
    this.#insert.run(no, word)
    this.#next = no + 1
    return no
  }
}

/** Turns numbers back into words for a reader. A word never changes within one file. */
export class WordReader {
  readonly #find: StatementSync
  readonly #read: StatementSync
  readonly #known = new Map<number, string>()

  constructor(db: DatabaseSync) {
    this.#find = db.prepare('SELECT no FROM words WHERE word = ?')
    this.#read = db.prepare('SELECT word FROM words WHERE no = ?')
  }

  /** The number of a word, or one that no row has. */
  number(word: string): number {
    const no = this.#find.get(word)?.['no']
    return typeof no === 'number' ? no : -1
  }

  word(no: number): string {
    const known = this.#known.get(no)
    if (known !== undefined) return known
    const word = String(this.#read.get(no)?.['word'])
    if (this.#known.size >= most) this.#known.clear()
    this.#known.set(no, word)
    return word
  }
}
