import type { SessionId } from './ids.ts'
import type { TableName, Tables } from './index-tables.ts'

/** Makes the row of a key or changes it: `set` overwrites, `keep` fills what is null, `add` and `max` count. */
export type Upsert<T extends TableName> = T extends TableName
  ? {
      readonly op: 'upsert'
      readonly table: T
      readonly key: readonly (string | number)[]
      /** A hint that the row is hardly ever there yet; it changes the cost, never the result. */
      readonly isFresh?: boolean
      /** Whose row it may be: that of another session stays as it is. */
      readonly of?: SessionId
      /** When this column already has a value, nothing is set: what came first stands. */
      readonly unless?: keyof Tables[T]['columns'] & string
      readonly keep?: Values<T>
      readonly set?: Values<T>
      readonly add?: Amounts<T>
      readonly max?: Amounts<T>
    }
  : never

/** Adds one row to the feed; its seq is new by the cursor, so nothing is looked up. */
export type Insert = { readonly op: 'insert'; readonly table: 'events'; readonly row: Values<'events'> }

/** Empties the text of feed rows whose journal lines were erased. */
type Erase = { readonly op: 'erase'; readonly seqs: readonly number[] }

/** One change to the index, a function of one event alone. */
export type RowOp = Upsert<TableName> | Insert | Erase

type ColumnsOf<T extends TableName> = Tables[T]['columns']

/** Values for some columns of a table; undefined leaves a column as it is, null empties it. */
export type Values<T extends TableName> = {
  readonly [C in keyof ColumnsOf<T>]?:
    | (ColumnsOf<T>[C] extends { kind: 'number' } ? number : string)
    | null
    | undefined
}

/** Names of the number columns of a table. */
type NumberColumn<T extends TableName> = {
  [C in keyof ColumnsOf<T>]: ColumnsOf<T>[C] extends { kind: 'number' } ? C : never
}[keyof ColumnsOf<T>]

/** Amounts for some number columns of a table. */
export type Amounts<T extends TableName> = { readonly [C in NumberColumn<T>]?: number | undefined }

/** What of one event can be searched: its title, a bounded body, and what the operators look at. */
export type SearchText = {
  readonly title: string
  readonly body: string
  readonly tool?: string
  /** Paths, separated by spaces. */
  readonly files?: string
  readonly status?: string
}
