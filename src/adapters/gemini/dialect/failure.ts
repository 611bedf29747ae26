import { told } from '../../../contract/formats/foreign-json.ts'
import type { SignalOf } from '../../../contract/signal.ts'

/** A request that failed; the provider's status stands somewhere in its words. */
export function geminiFailure(
  error: string,
  seen: { readonly source: 'transcript'; readonly at: number; readonly agent?: string },
): SignalOf<'turn-failed'> {
  const code = /"code":\s*(\d{3})\b/.exec(error)?.[1] ?? /\bstatus:? (\d{3})\b/.exec(error)?.[1]
  const status = code === undefined ? undefined : Number(code)
  const isLimit = status === 429 || /RESOURCE_EXHAUSTED|quota/i.test(error)
  return {
    ...seen,
    kind: 'turn-failed',
    error: error || 'the request failed',
    ...told({ status, limit: isLimit ? {} : undefined }),
  }
}
