import type { SignalOf } from '../../../contract/signal.ts'
import { present } from './present.ts'
import { resetTime } from './reset-time.ts'

/** What is told of a turn that failed: by a hook in words, by a transcript with more detail. */
export type Failure = {
  readonly code: string | undefined
  readonly text: string | undefined
  readonly status?: number | undefined
  readonly resetsAtMs?: number | undefined
}

/** The part of a `turn-failed` signal that tells why. */
export function failureOf(
  failure: Failure,
  at: number,
): Pick<SignalOf<'turn-failed'>, 'error' | 'status' | 'limit'> {
  const error = failure.text ?? failure.code ?? 'unknown'
  const status = failure.status ?? statusIn(error)
  const resetsAtMs = failure.resetsAtMs ?? resetTime(error, at)
  return {
    error,
    ...present({ status }),
    ...(failure.code === 'rate_limit' && { limit: present({ resetsAtMs }) }),
  }
}

function statusIn(text: string): number | undefined {
  const found = /API Error: (\d{3})\b/.exec(text)?.[1]
  return found === undefined ? undefined : Number(found)
}
