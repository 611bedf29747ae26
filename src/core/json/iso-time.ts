import { IsoTime } from '../../contract/session-file/agent-session.ts'

const earliest = -62_167_219_200_000
const latest = 253_402_300_799_999

/** Milliseconds since the epoch of a time in a file; NaN when it is none. */
export const millisOf = (time: string): number => Date.parse(time)

export const isIsoTime = (text: string): boolean => IsoTime.safeParse(text).success

/** The time as events write it: UTC with milliseconds, inside the four-digit years. */
export function eventTime(time: string): string {
  return clamped(millisOf(time) || 0)
}

/** Whether a time is written without fractions of a second, so that it is up to a second off. */
export const isWholeSecond = (time: string): boolean => !time.includes('.')

/** The time some milliseconds later, inside the four-digit years. */
export function later(time: string, ms: number): string {
  const sum = millisOf(time) + ms
  return ms === 0 || Number.isNaN(sum) ? time : clamped(sum)
}

const clamped = (millis: number): string =>
  new Date(Math.min(latest, Math.max(earliest, millis))).toISOString()
