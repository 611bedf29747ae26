import { AppError, type ErrorCode, errorCodes } from '../contract/errors.ts'
import type { Problem } from '../contract/routes.ts'

/** What the client sends: the part of the web's fetch it needs. */
export type Sent = {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal: AbortSignal
}

/** What the client reads of an answer; the web's own Response is one. */
export type Answer = {
  readonly ok: boolean
  readonly status: number
  readonly headers: { get(name: string): string | null }
  readonly body: AsyncIterable<Uint8Array> | null
  text(): Promise<string>
}

/** A fetch: the browser's own, or one that knows a unix socket. */
export type Request = (url: string, sent: Sent) => Promise<Answer>

/** How the client reaches the daemon, and time, which it has none of itself. */
export type Transport = {
  /** Like `http://127.0.0.1:4100`; empty in a page that the daemon served. */
  readonly base: string
  readonly request: Request
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  readonly token?: string
}

/** The headers of every request. */
export function headersOf({ token }: Transport, wire: number): Record<string, string> {
  return {
    accept: 'application/json',
    'muster-wire': String(wire),
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  }
}

/** Rebuilds the refusal that an answer carries. */
export async function refusalOf(response: Answer): Promise<AppError> {
  const body = (await jsonOf(response)) as Partial<Problem> | undefined
  if (typeof body?.code !== 'string' || typeof body.message !== 'string') return notMuster(response.status)
  const { code, message, details } = body
  return new AppError(codeOf(code, response.status), message, details === undefined ? {} : { details })
}

/** What a request that got no answer at all means. */
export function connectionFailure(error: unknown, isAct: boolean): AppError {
  const code = systemCode(error)
  if (code === 'EACCES' || code === 'EPERM')
    return new AppError(
      'denied',
      "the daemon's socket belongs to somebody else, or a sandbox forbids it; check MUSTER_HOME, or run sm outside the sandbox",
      { cause: error },
    )
  if (code === 'ECONNRESET' || code === 'EPIPE' || code === 'UND_ERR_SOCKET')
    return new AppError(
      'unavailable',
      isAct
        ? 'the daemon closed the connection before it answered; check whether it was done before trying again'
        : 'the daemon closed the connection; try again',
      { cause: error },
    )
  return new AppError('unavailable', 'the daemon is not running; start it with `sm up`', { cause: error })
}

/** Connected, or about to be, and no answer: the daemon is there. */
export const slowDaemon = (timeoutMs: number): AppError =>
  new AppError('timeout', `the daemon is slow: no answer in ${timeoutMs} ms; try again, or see \`sm doctor\``)

/** Something else answers at the daemon's address. */
export const notMuster = (status: number): AppError =>
  new AppError(
    'unavailable',
    `what answers there is not Muster (status ${status}); check the port and MUSTER_HOME`,
  )

/** The body as JSON, or nothing when it is none. */
export async function jsonOf(response: Answer): Promise<unknown> {
  const text = await response.text()
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

// A newer daemon may have a code that this client does not know; its status still tells the kind.
function codeOf(code: string, status: number): ErrorCode {
  if (code in errorCodes) return code as ErrorCode
  const alike = Object.entries(errorCodes).find(([, { http }]) => http === status)
  return (alike?.[0] as ErrorCode | undefined) ?? 'failed'
}

// The built-in fetch hides the reason one level down.
function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if ('code' in error && typeof error.code === 'string') return error.code
  return systemCode(error.cause)
}
