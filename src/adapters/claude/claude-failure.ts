import { told } from '../../contract/formats/foreign-json.ts'
import type { SignalOf } from '../../contract/signal.ts'

/** What is told of a turn that failed: by a hook in words, by a transcript with more detail. */
type Failure = {
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
    ...told({ status }),
    ...(failure.code === 'rate_limit' && { limit: told({ resetsAtMs }) }),
  }
}

function statusIn(text: string): number | undefined {
  const found = /API Error: (\d{3})\b/.exec(text)?.[1]
  return found === undefined ? undefined : Number(found)
}

const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')
const pattern =
  /resets (?:(?<month>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]* (?<day>\d{1,2}),? (?:at )?)?(?<hour>\d{1,2})(?::(?<minute>\d{2}))?(?<half>[ap]m) \((?<zone>[\w/+-]+)\)/
const dayMs = 86_400_000

/** When an allowance begins anew, from a text like `resets Nov 19, 12:48am (Europe/Berlin)`; nothing without a zone. */
export function resetTime(text: string, atMs: number): number | undefined {
  const found = pattern.exec(text)?.groups
  if (!found) return undefined
  const { zone = '', month, day, hour, minute, half } = found
  const now = wallTime(atMs, zone)
  if (now === undefined) return undefined
  const today = new Date(now)
  const hours = (Number(hour) % 12) + (half === 'pm' ? 12 : 0)
  const wall = (years: number, days: number): number =>
    month === undefined
      ? Date.UTC(
          today.getUTCFullYear(),
          today.getUTCMonth(),
          today.getUTCDate() + days,
          hours,
          Number(minute ?? 0),
        )
      : Date.UTC(
          today.getUTCFullYear() + years,
          months.indexOf(month),
          Number(day),
          hours,
          Number(minute ?? 0),
        )
  const first = instant(wall(0, 0), zone)
  // The minute that is shown may already have begun; anything earlier is of the next day or year.
  if (first !== undefined && first >= atMs - (month === undefined ? 60_000 : dayMs)) return first
  return instant(wall(1, 1), zone)
}

/** What a clock in the zone shows at an instant, written as if it were UTC. */
function wallTime(ms: number, zone: string): number | undefined {
  try {
    const format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
    const parts = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]))
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
    return Date.UTC(year, month - 1, day, hour, minute, second)
  } catch {
    // A zone that this machine does not know.
    return undefined
  }
}

function instant(wall: number, zone: string): number | undefined {
  const shown = wallTime(wall, zone)
  if (shown === undefined || Number.isNaN(wall)) return undefined
  const guess = wall - (shown - wall)
  // Between the guess and the time itself the zone may change its clocks.
  const off = (wallTime(guess, zone) ?? wall) - wall
  return guess - off
}
