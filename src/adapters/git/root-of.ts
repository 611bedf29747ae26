import { AppError } from '../../contract/errors.ts'
import { git } from './run-git.ts'

/** The root of the work tree that a folder is in; undefined outside of any. */
export const rootOf = (folder: string, signal: AbortSignal): Promise<string | undefined> =>
  maybe(git(folder, ['rev-parse', '--show-toplevel'], { signal }))

/** What git answers with a failure when there is none. */
export async function maybe(answer: Promise<string>): Promise<string | undefined> {
  try {
    return (await answer).trim() || undefined
  } catch (error) {
    if (error instanceof AppError && error.code === 'failed') return undefined
    throw error
  }
}
