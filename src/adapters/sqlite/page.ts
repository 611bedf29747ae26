import type { Page } from '../../ports/index.ts'
import type { Condition } from './row-reader.ts'

const usual = 100
const most = 5000

/** How many rows a page may have: a query must never be as long as the journal. */
export function limitOf(limit: number | undefined): number {
  if (limit === undefined || Number.isNaN(limit)) return usual
  return Math.min(Math.max(Math.trunc(limit), 0), most)
}

/** The conditions of a page over the column it is paged by. */
export function between(column: string, { after, before }: Page): (Condition | undefined)[] {
  return [
    after === undefined ? undefined : { sql: `${column} > ?`, values: [after] },
    before === undefined ? undefined : { sql: `${column} < ?`, values: [before] },
  ]
}
