/** What is looked for in each file. */
export type Query = {
  readonly pattern: string
  readonly isCaseless: boolean
  /** Whether a match may span lines. */
  readonly isMultiline: boolean
  /** Lines to show around a match. */
  readonly before: number
  readonly after: number
  /** Whether one match tells enough of a file. */
  readonly isFirstOnly: boolean
  /** Of one file; none where only the number counts. */
  readonly mostLines: number
}

/** A line that matches, or one around it. */
export type FoundLine = { readonly number: number; readonly text: string; readonly isMatch: boolean }

/** What was found in one file. */
export type Found = {
  readonly file: string
  /** The first ones, in order. */
  readonly lines: readonly FoundLine[]
  /** How many lines match, also those that are not kept. */
  readonly count: number
}

/** Looks through text files below a folder in their order; binary ones give nothing. */
export type Search = (
  files: readonly string[],
  query: Query,
  where: { readonly workspace: string; readonly signal: AbortSignal },
) => AsyncGenerator<Found>
