import {
  type Foreign,
  foreign,
  foreignCount,
  foreignText,
  told,
} from '../../../contract/formats/foreign-json.ts'
import type { Signal } from '../../../contract/signal.ts'

/** How a turn ended when it did not end well; a person's Escape is an error there too. */
export function openCodeError(
  error: Foreign,
  seen: { readonly source: 'hook'; readonly at: number; readonly agent?: string },
): readonly Signal[] {
  const name = foreignText(error['name'])
  if (name === 'MessageAbortedError') return [{ ...seen, kind: 'interrupted' }]
  const data = foreign(error['data'])
  const status = foreignCount(data['statusCode'])
  const limit = status === 429 ? {} : undefined
  const message = foreignText(data['message']) ?? name ?? 'the turn failed'
  return [{ ...seen, kind: 'turn-failed', error: message, ...told({ status, limit }) }]
}
