/** The one table of refusals: what each code answers over HTTP and as an exit status of `sm`. */
export const errorCodes = {
  failed: { http: 500, exit: 1, means: 'the operation ran and failed' },
  internal: { http: 500, exit: 1, means: 'a bug in Muster; the daemon log has the cause' },
  invalid: { http: 400, exit: 2, means: 'the input is not valid; the message says where' },
  method_not_allowed: { http: 405, exit: 2, means: 'the path exists, but not with this method' },
  too_large: { http: 413, exit: 2, means: 'the body is over the limit' },
  unsupported_media: { http: 415, exit: 2, means: 'bodies are application/json' },
  not_found: { http: 404, exit: 3, means: 'it does not exist' },
  conflict: { http: 409, exit: 4, means: 'it conflicts with the current state' },
  timeout: { http: 504, exit: 4, means: 'no answer in time' },
  limited: { http: 429, exit: 4, means: 'over a limit; try again later' },
  unauthenticated: { http: 401, exit: 5, means: 'a token is needed, or the token sent is unknown' },
  denied: { http: 403, exit: 5, means: 'the caller is known, but not allowed to do this' },
  misdirected: { http: 421, exit: 5, means: 'the Host header names another server' },
  unavailable: { http: 503, exit: 6, means: 'the daemon, or a part it needs, is not available' },
} as const satisfies Record<string, { http: number; exit: number; means: string }>

/** The name of a refusal, stable for ever on the wire. */
export type ErrorCode = keyof typeof errorCodes

/** An expected failure: it has a stable code, is shown to the user, and says what to do next. */
export class AppError extends Error {
  override readonly name = 'AppError'
  readonly code: ErrorCode
  readonly details: unknown
  constructor(code: ErrorCode, message: string, options: { cause?: unknown; details?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.details = options.details
  }
}
