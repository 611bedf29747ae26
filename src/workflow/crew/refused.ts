import { AppError } from '../../contract/errors.ts'

/** Lets a refusal pass: what would be lost stays where it is, and what is gone already need not go. */
export function refused(error: unknown): void {
  if (!(error instanceof AppError)) throw error
}
