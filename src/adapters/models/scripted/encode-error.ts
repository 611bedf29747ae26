import type { Protocol } from './protocol.ts'

/** A failure as a model provider tells it. */
export type Failure = {
  readonly status: number
  readonly message: string
  readonly retryAfterSec?: number | undefined
}

/** The body of a failure in a protocol. */
export function errorBody(protocol: Protocol, { status, message, retryAfterSec }: Failure): object {
  if (protocol === 'gemini') {
    const hint = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${retryAfterSec}s` }
    const details = retryAfterSec === undefined ? [] : [hint]
    return { error: { code: status, message, status: googleStatus[status] ?? 'INTERNAL', details } }
  }
  const type = errorTypes[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error')
  if (protocol === 'anthropic') return { type: 'error', error: { type, message } }
  return { error: { message, type, param: null, code: status === 429 ? 'rate_limit_exceeded' : null } }
}

const errorTypes: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
}

const googleStatus: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
  529: 'UNAVAILABLE',
}
