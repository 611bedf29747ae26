import * as z from 'zod'
import { Count } from './values.ts'

/** A value an index row may hold. */
export type RowValue = string | number | null

/** How a column is kept. A word is a text that recurs: it is stored once and rows hold its number. */
export type ColumnKind = 'number' | 'text' | 'word'

/** A column of the index: how it is kept, what an answer has of it, and how that is read when it is not the same. */
type Column = {
  readonly kind: ColumnKind
  readonly row: z.ZodType
  readonly read?: (kept: RowValue) => unknown
}

/** Some columns by name, in their order. */
export type Columns = Readonly<Record<string, Column>>

/** Numbers of one table that are totals in another, of the same session: when a row changes, the difference moves on. */
export type Carry = {
  readonly to: string
  /** Columns of this table that name the row of the other; a null among them carries nothing. */
  readonly key: readonly string[]
  readonly columns: readonly string[]
}

/** One table of the index. A row is found by its key; `rowid` is the number rows are paged by. */
export type TableSpec = {
  readonly columns: Columns
  readonly key: readonly string[]
  readonly rowid?: string
  readonly indexes: readonly { readonly columns: readonly string[]; readonly where?: string }[]
  readonly carries?: readonly Carry[]
}

/** A text that an answer has as this schema says. */
export const textOf = <S extends z.ZodType>(row: S) => ({ kind: 'text', row }) as const

/** A word that an answer has as this schema says. */
export const wordOf = <S extends z.ZodType>(row: S) => ({ kind: 'word', row }) as const

/** A number that an answer has as this schema says. */
export const numberOf = <S extends z.ZodType>(row: S) => ({ kind: 'number', row }) as const

/** A text that may be missing. */
export const text = textOf(z.string().nullable())

/** A word that may be missing. */
export const word = wordOf(z.string().nullable())

/** A number that may be missing: an amount, or a time in milliseconds since 1970, UTC. */
export const number = numberOf(z.number().nullable())

/** A counter. Nothing counted is 0, unlike a sum of figures that nobody gave, which stays null. */
export const count = { ...numberOf(Count), read: (kept: RowValue) => kept ?? 0 } as const

/** A list of texts, kept as JSON. */
export const list = {
  ...textOf(z.array(z.string())),
  read: (kept: RowValue) => (typeof kept === 'string' ? (JSON.parse(kept) as string[]) : []),
} as const

/** Yes or no, kept as 1 or nothing. */
export const flag = { ...numberOf(z.boolean()), read: (kept: RowValue) => kept === 1 } as const

/** A part of a key, which cannot be null: the empty word means that there is none. */
export const slice = { ...word, read: (kept: RowValue) => (kept === '' ? null : kept) } as const

/** A UTC day, kept as its number since 1970 and answered as a date. */
export const dayOf = <S extends z.ZodType>(row: S) => ({ ...numberOf(row), read: dateOf }) as const

/** Billionths of a dollar, answered as dollars: `costNano` under the name `costUsd`. */
export const nano = {
  ...number,
  read: (kept: RowValue) => (typeof kept === 'number' ? kept / 1e9 : null),
} as const

function dateOf(day: RowValue): string | null {
  return typeof day === 'number' ? new Date(day * 86_400_000).toISOString().slice(0, 10) : null
}

/** The name of a column in an answer. */
export const answeredAs = (name: string): string => name.replace(/Nano$/, 'Usd')

type Answered<C extends Columns> = {
  [N in keyof C as N extends `${infer Name}Nano` ? `${Name}Usd` : N]: C[N]['row']
}

/** The fields of an answer that has these columns. */
export function fieldsOf<C extends Columns>(columns: C): Answered<C> {
  const fields = Object.entries(columns).map(([name, { row }]) => [answeredAs(name), row])
  return Object.fromEntries(fields) as Answered<C>
}

/** Sums over the leaves of the token ledger. Null means that no call has said it; it is never 0 for that. */
export const usage = {
  calls: count,
  /** Calls among them whose price is not known. */
  unpriced: count,
  input: number,
  output: number,
  cacheRead: number,
  cacheWrite: number,
  reasoning: number,
  tokens: number,
  costNano: nano,
  /** The part of the cost that was computed with a price list, and not reported. */
  estimatedNano: nano,
} as const
