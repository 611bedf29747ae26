import { APICallError } from '@ai-sdk/provider'
import type { ModelFailureKind } from '../../../contract/values.ts'
import { ModelFailure } from '../../../ports/model.ts'

/** What an error of the SDK, of the network or in a stream means. */
export function failureOf(error: unknown): ModelFailure {
  if (error instanceof ModelFailure) return error
  if (APICallError.isInstance(error)) {
    const status = error.statusCode
    const kind = kindOf(status, `${error.message} ${error.responseBody ?? ''}`)
    return new ModelFailure(kind, messageOf(kind, error.message, status), {
      status,
      retryAfterMs: retryAfter(error.responseHeaders),
      cause: error,
    })
  }
  const text = error instanceof Error ? error.message : wordsOf(error)
  return new ModelFailure(kindOf(undefined, text), text, { cause: error })
}

function kindOf(status: number | undefined, text: string): ModelFailureKind {
  if (
    /context.{0,20}(length|window)|prompt is too long|too many (input )?tokens|exceeds? the maximum/i.test(
      text,
    )
  )
    return 'context_length'
  if (status === 401 || status === 403) return 'login'
  if (status === 429 || /rate.?limit/i.test(text)) return 'rate_limited'
  if (status === 529 || status === 503 || /overloaded/i.test(text)) return 'overloaded'
  if (status === 408 || status === 504) return 'timeout'
  if (status === undefined) return /api.?error|internal server error/i.test(text) ? 'server' : 'network'
  return status >= 500 ? 'server' : 'refused'
}

function messageOf(kind: ModelFailureKind, text: string, status: number | undefined): string {
  const said = status === undefined ? text : `${text} (HTTP ${status})`
  return kind === 'login' ? `${said}; set the key of this provider, see: sm models` : said
}

/** Seconds or a date, by the standard; or milliseconds, as some send. */
function retryAfter(headers: Record<string, string> | undefined): number | undefined {
  const precise = Number(headers?.['retry-after-ms'])
  if (Number.isFinite(precise) && precise >= 0) return Math.round(precise)
  const plain = headers?.['retry-after']
  if (plain === undefined) return undefined
  const seconds = Number(plain)
  if (Number.isFinite(seconds) && seconds >= 0) return Math.round(seconds * 1000)
  const at = Date.parse(plain)
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now())
}

/** Errors inside a stream are plain objects. */
function wordsOf(error: unknown): string {
  const message = (error as { message?: unknown } | null)?.message
  return typeof message === 'string' ? message : (JSON.stringify(error) ?? String(error))
}
