import {
  type Foreign,
  foreign,
  foreignCount,
  foreignText,
  told,
} from '../../../contract/formats/foreign-json.ts'
import type { SignalOf } from '../../../contract/signal.ts'

const limits = new Set(['usage_limit_exceeded', 'rate_limit_exceeded', 'session_budget_exceeded'])

/** A turn that ended in an error. Codex fires no hook for it: the transcript alone tells. */
export function turnFailed(
  error: Foreign,
  seen: { readonly source: 'transcript'; readonly at: number; readonly agent?: string },
): SignalOf<'turn-failed'> {
  const info = error['codex_error_info']
  const [kind, details] =
    typeof info === 'string' ? [info, undefined] : (Object.entries(foreign(info))[0] ?? [])
  const status = foreignCount(foreign(details)['http_status_code'])
  const isLimit = (kind !== undefined && limits.has(kind)) || status === 429
  return {
    ...seen,
    kind: 'turn-failed',
    error: foreignText(error['message']) ?? kind ?? 'the turn failed',
    ...told({ status, limit: isLimit ? {} : undefined }),
  }
}
