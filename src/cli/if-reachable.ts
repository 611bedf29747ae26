import { AppError } from '../contract/errors.ts'

/** An answer, or nothing while the daemon is away: who follows something waits for it to come back. */
export async function ifReachable<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof AppError && (error.code === 'unavailable' || error.code === 'timeout'))
      return undefined
    throw error
  }
}
