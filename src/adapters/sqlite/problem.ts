import { AppError } from '../../contract/errors.ts'
import type { IndexProblem } from '../../ports/index.ts'

// SQLite's result codes; an extended code has the primary one in its low byte.
const corrupt = new Set([11, 26])

/** What an SQLite error says of the file, or undefined when the file is not to blame. */
export function problemOf(error: unknown): IndexProblem | undefined {
  return corrupt.has(sqliteCode(error) & 0xff) ? 'corrupt' : undefined
}

function sqliteCode(error: unknown): number {
  if (typeof error !== 'object' || error === null || !('errcode' in error)) return 0
  return typeof error.errcode === 'number' ? error.errcode : 0
}

/** A damaged file as a refusal that says what helps; any other error as it is. */
export function asRefusal(error: unknown): unknown {
  const problem = problemOf(error)
  if (problem === undefined) return error
  return new AppError('unavailable', 'the index is damaged: run `sm journal rebuild-index`', {
    cause: error,
    details: { problem },
  })
}

/** The words of an error, short enough for a row. */
export function errorText(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 1000)
}

const constraint = 19

/** Two rows of one key: a row that was said to be new was there already. */
export function isKeyConflict(error: unknown): boolean {
  return (sqliteCode(error) & 0xff) === constraint
}

const cannotOpen = 14

/** There is no file to open. */
export function isMissing(error: unknown): boolean {
  return (sqliteCode(error) & 0xff) === cannotOpen
}
