import { cutText } from '../system/cut-text.ts'
import type { Found } from './search.ts'

export type GrepMode = 'content' | 'files_with_matches' | 'count'

type Options = {
  readonly mode: GrepMode
  readonly hasNumbers: boolean
  /** Lines of the answer. */
  readonly limit: number
  readonly isTooLate: (error: unknown) => boolean
}

type Report = { readonly lines: readonly string[]; readonly notes: readonly string[] }

const mostChars = 30_000
const mostLineChars = 500
/** More lines than an answer has room for, however short they are. */
export const mostShown = mostChars / 2

/** Puts what was found into lines, until there are enough of them. */
export async function grepReport(found: AsyncIterable<Found>, options: Options): Promise<Report> {
  const { limit, isTooLate } = options
  const lines: string[] = []
  let count = 0
  let chars = 0
  try {
    for await (const one of found) {
      for (const line of linesOf(one, options, lines.length > 0)) {
        chars += line.length + 1
        const isEnough = count === limit
        if (isEnough || chars > mostChars)
          return {
            lines,
            notes: [`there is more; ${isEnough ? 'raise head_limit' : 'narrow the pattern, path or glob'}`],
          }
        lines.push(line)
        if (line !== gap) count += 1
      }
    }
  } catch (error) {
    if (!isTooLate(error)) throw error
    return { lines, notes: ['the search took too long and was stopped; narrow the path or glob'] }
  }
  return { lines, notes: [] }
}

/** Between lines that do not follow each other. */
const gap = '--'

function* linesOf(
  { file, lines, count }: Found,
  { mode, hasNumbers }: Options,
  hasBefore: boolean,
): Generator<string> {
  if (mode === 'files_with_matches') return yield file
  if (mode === 'count') return yield `${file}:${count}`
  const hasContext = lines.some((line) => !line.isMatch)
  let last = hasBefore ? -1 : undefined
  for (const { number, text, isMatch } of lines) {
    if (hasContext && last !== undefined && number !== last + 1) yield gap
    last = number
    const sign = isMatch ? ':' : '-'
    const shown = text.length > mostLineChars ? `${cutText(text, mostLineChars)}… [cut]` : text
    yield `${file}${sign}${hasNumbers ? `${number}${sign}` : ''}${shown}`
  }
}
