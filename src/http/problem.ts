import { AppError, type ErrorCode, errorCodes } from '../contract/errors.ts'

/** Where what nobody expected goes, once. */
export type OnBug = (error: unknown, where: string) => void

/** What a refusal or a bug answers. */
export type Problem = {
  readonly status: 400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 421 | 429 | 500 | 503 | 504
  readonly body: { readonly code: ErrorCode; readonly message: string; readonly details?: unknown }
}

/** The one answer to everything that went wrong. */
export function problemOf(error: unknown, where: string, onBug: OnBug): Problem {
  if (error instanceof AppError && error.code !== 'internal') {
    const { code, message, details } = error
    return {
      status: errorCodes[code].http,
      body: { code, message, ...(details !== undefined && { details }) },
    }
  }
  onBug(error, where)
  // The cause may hold paths or secrets of the daemon, so it stays in its log.
  return {
    status: 500,
    body: { code: 'internal', message: 'a bug in Muster; the cause is in the daemon log' },
  }
}
