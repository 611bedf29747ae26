import { at } from '../json/pointer.ts'
import { isIsoTime } from '../json/time.ts'
import { type Fields, keepOriginal, setAside } from './fields.ts'
import { shown } from './log.ts'

/** A time in any form that files have: ISO with or without a zone, a date, unix seconds or milliseconds. */
export function timeFrom(value: unknown): string | undefined {
  if (typeof value === 'number') return fromUnix(value)
  if (typeof value !== 'string') return undefined
  const text = value.trim()
  if (isIsoTime(text)) return text
  if (/^\d{9,14}(\.\d+)?$/.test(text)) return fromUnix(Number(text))
  const spelled =
    /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d(?:[.,]\d+)?)?)?\s*(Z|UTC|[+-]\d\d:?\d\d)?$/i.exec(text)
  if (!spelled) return undefined
  const [, date, minutes = '00:00', seconds = ':00', zone = 'Z'] = spelled
  const colon = /^[+-]\d{4}$/.test(zone) ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone
  const iso = `${date}T${minutes}${seconds.replace(',', '.')}${/^(z|utc)$/i.test(colon) ? 'Z' : colon}`
  return isIsoTime(iso) ? iso : undefined
}

/** A required time. */
export function time(fields: Fields, key: string, fallback: () => string): void {
  optionalTime(fields, key)
  if (fields.record[key] !== undefined) return
  fields.record[key] = fallback()
  fields.log(at(fields.place, key), 'filled', `it was missing; ${fallback()} is put in`)
}

/** A time that may be absent. */
export function optionalTime(fields: Fields, key: string): void {
  const { record, place, log } = fields
  const value = record[key]
  if (!Object.hasOwn(record, key) || (typeof value === 'string' && isIsoTime(value))) return
  const read = timeFrom(value)
  if (read === undefined) {
    setAside(fields, key, 'is not a time')
    return
  }
  record[key] = read
  log(at(place, key), 'converted', `${shown(value)} is read as ${read}`)
}

/** An end that lies before its start becomes the start; what the file said stays beside. */
export function endNotBefore(fields: Fields, start: string, end: string): void {
  const { record, place, log } = fields
  const [from, to] = [record[start], record[end]]
  if (typeof from !== 'string' || typeof to !== 'string' || Date.parse(to) >= Date.parse(from)) return
  keepOriginal(fields, end, to)
  record[end] = from
  log(at(place, end), 'converted', `${to} lies before ${start}; ${from} is put in`)
}

function fromUnix(value: number): string | undefined {
  // Seconds until the year 5138, milliseconds from 1973 on: no time of an agent lies outside both.
  const millis = Math.abs(value) < 1e11 ? value * 1000 : value
  const isDay = Number.isFinite(millis) && millis >= 0 && millis < 253_402_300_800_000
  return isDay ? new Date(Math.round(millis)).toISOString() : undefined
}
