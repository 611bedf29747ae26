import { AppError } from '../contract/errors.ts'

const unitMs: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Reads a point in the past: an age like `10min`, a time of today like `15:10`, or an ISO time. */
export function parseSince(text: string, now: number): string {
  const age = /^(\d+)\s*(s|sec|m|min|h|hr|d|days?)$/.exec(text)
  if (age) return isoOf(now - Number(age[1]) * (unitMs[age[2]?.charAt(0) ?? ''] ?? 0), text)
  const clock = /^(\d{1,2}):(\d{2})$/.exec(text)
  if (clock) return isoOf(lastTimeAt(Number(clock[1]), Number(clock[2]), now), text)
  return isoOf(/^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN, text)
}

/** When the clock last showed a time, where the person is. */
function lastTimeAt(hours: number, minutes: number, now: number): number {
  if (hours > 23 || minutes > 59) return Number.NaN
  const at = new Date(now)
  at.setHours(hours, minutes, 0, 0)
  if (at.getTime() > now) at.setDate(at.getDate() - 1)
  return at.getTime()
}

function isoOf(at: number, text: string): string {
  const date = new Date(at)
  if (!Number.isNaN(date.getTime())) return date.toISOString()
  throw new AppError('invalid', `'${text}' is no time; write an age like 10min, 15:10, or 2026-01-27T15:10Z`)
}
