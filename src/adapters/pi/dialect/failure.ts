import { told } from '../../../contract/formats/foreign-json.ts'
import type { SignalOf } from '../../../contract/signal.ts'

/** Errors after which pi tries again by itself, three times; only the screen shows when it gives up. */
const passing =
  /\b(429|50[0234]|529)\b|overloaded|rate.?limit|too many requests|unavailable|server.?error|network|connection|timed? ?out|terminated/i

/** How a request failed. The provider's status is the first word of the message. */
export function piFailure<S extends { readonly source: 'hook' | 'transcript'; readonly at: number }>(
  message: string | undefined,
  seen: S,
): S & (SignalOf<'turn-failed'> | SignalOf<'retrying'>) {
  const error = message ?? 'the request failed'
  if (passing.test(error)) return { ...seen, kind: 'retrying', error }
  const status = /^(\d{3})\b/.exec(error)?.[1]
  return {
    ...seen,
    kind: 'turn-failed',
    error,
    ...told({ status: status === undefined ? undefined : Number(status) }),
  }
}
