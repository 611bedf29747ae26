import { AppError, type ErrorCode, errorCodes } from '../contract/errors.ts'

/** A failed command as it is told: to people by its message, to programs as JSON, to the shell by its exit code. */
export type Failure = {
  readonly code: ErrorCode
  readonly message: string
  readonly details?: unknown
  readonly exit: number
}

export function failureOf(error: unknown): Failure {
  if (error instanceof AppError) {
    const { code, message, details } = error
    return { code, message, ...(details === undefined ? {} : { details }), exit: errorCodes[code].exit }
  }
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { code: 'internal', message: `a bug in sm: ${message}`, exit: errorCodes.internal.exit }
}
