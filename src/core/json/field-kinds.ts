import { isIsoTime } from './iso-time.ts'
import { at, isRecord } from './json-value.ts'
import { type Fields, type Found, keepOriginal, setAside, shown } from './repair.ts'

/** What a field falls back to when it is missing or cannot be read; without it the field may be absent. */
export type Fallback<T> = (() => T) | undefined

/** A text. */
export function text(fields: Fields, key: string, fallback?: Fallback<string>): void {
  const { record, place, log } = fields
  const value = record[key]
  if (typeof value === 'string' || (!fallback && !Object.hasOwn(record, key))) return
  const converted = textFrom(value)
  if (converted !== undefined) {
    record[key] = converted
    log(at(place, key), 'converted', `${shown(value)} is read as a text`)
    return
  }
  if (!fallback || (value !== undefined && value !== null)) setAside(fields, key, 'is not a text')
  if (!fallback) return
  record[key] = fallback()
  log(at(place, key), 'filled', `it was missing; ${shown(record[key])} is put in`)
}

/** A text that is not empty: a name or an id. */
export function id(fields: Fields, key: string, fallback?: Fallback<string>): void {
  const { record } = fields
  if (fallback && record[key] === '') Reflect.deleteProperty(record, key)
  text(fields, key, fallback)
  if (record[key] !== '') return
  if (fallback) record[key] = fallback()
  else setAside(fields, key, 'names nothing')
}

/** A text from what a file has in its place; undefined when it has none to give. */
export function textFrom(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined
}

/** True or false; what a required flag was before stays beside it. */
export function flag(fields: Fields, key: string, fallback?: Fallback<boolean>): void {
  const { record, place, log } = fields
  const value = record[key]
  if (typeof value === 'boolean' || (!fallback && !Object.hasOwn(record, key))) return
  const converted = flagFrom(value)
  if (!fallback && converted === undefined) {
    setAside(fields, key, 'is neither true nor false')
    return
  }
  const read = converted ?? fallback?.()
  if (fallback) keepOriginal(fields, key, value)
  record[key] = read
  log(at(place, key), converted === undefined ? 'filled' : 'converted', `${shown(value)} is read as ${read}`)
}

/** True or false from a flag, a word for one, or a check result with `passed`. */
export function flagFrom(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value
  if (value === 1 || value === 0) return value === 1
  if (isRecord(value) && 'passed' in value) return flagFrom(value['passed'])
  if (typeof value !== 'string') return undefined
  const name = value.trim().toLowerCase()
  if (/^(true|yes|y|pass|passed|ok|success|succeeded|green)$/.test(name)) return true
  return /^(false|no|n|fail|failed|error|red)$/.test(name) ? false : undefined
}

type NumberRule = { readonly whole: boolean; readonly fallback?: Fallback<number> }

/** A number that is not negative. */
export function amount(fields: Fields, key: string, { whole, fallback }: NumberRule): void {
  const { record, place, log } = fields
  const value = record[key]
  if (isAmount(value, whole) || (!fallback && !Object.hasOwn(record, key))) return
  const given = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  const rounded = whole && typeof given === 'number' ? Math.round(given) : given
  if (isAmount(rounded, whole)) {
    record[key] = rounded
    log(at(place, key), 'converted', `${shown(value)} is read as ${rounded}`)
    return
  }
  if (Object.hasOwn(record, key)) setAside(fields, key, 'is not a number from 0 on')
  if (!fallback) return
  record[key] = fallback()
  log(at(place, key), 'filled', `${String(record[key])} is put in`)
}

const isAmount = (value: unknown, whole: boolean): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 && (!whole || Number.isSafeInteger(value))

export type Words = {
  readonly allowed: readonly string[]
  /** Other words for the allowed ones, in lower case with `_`. */
  readonly also?: Readonly<Record<string, string>> | undefined
}
type WordRule = Words & { readonly fallback?: ((word: string | undefined) => string) | undefined }

/** A word of a fixed list. A required one is translated and kept beside; an optional one that nobody knows is set aside. */
export function word(fields: Fields, key: string, { fallback, ...words }: WordRule): void {
  const { record, place, log } = fields
  const value = record[key]
  if (words.allowed.includes(value as string) || (!fallback && !Object.hasOwn(record, key))) return
  const chosen = knownWord(value, words) ?? fallback?.(wordName(value))
  if (chosen === undefined) setAside(fields, key, `is none of ${words.allowed.join(', ')}`)
  else if (fallback && (value === undefined || value === null || value === ''))
    log(at(place, key), 'filled', `it was missing; ${chosen} is put in`)
  else {
    if (fallback) keepOriginal(fields, key, value)
    log(at(place, key), 'translated', `${shown(value)} is read as ${chosen}`)
  }
  if (chosen !== undefined) record[key] = chosen
}

/** The word of a fixed list that a value means; undefined when it means none. */
export function knownWord(value: unknown, { allowed, also }: Words): string | undefined {
  const name = wordName(value)
  const other = name !== undefined && also && Object.hasOwn(also, name) ? also[name] : undefined
  return allowed.find((each) => each === name) ?? other
}

const wordName = (value: unknown): string | undefined =>
  typeof value === 'string'
    ? value
        .trim()
        .toLowerCase()
        .replace(/[\s-]+/g, '_')
    : undefined

/** A list of texts; a single text is a list of one, other items are dropped or read as texts. */
export function texts(fields: Fields, key: string, fallback?: Fallback<readonly string[]>): void {
  const { record, place, log } = fields
  const value = record[key]
  const isThere = Object.hasOwn(record, key)
  if (isThere && !(Array.isArray(value) && value.every((item) => typeof item === 'string'))) {
    const list = Array.isArray(value) ? value : textFrom(value) === undefined ? undefined : [value]
    if (list) {
      const read = list.map((item: unknown) => textFrom(item) ?? pathOf(item))
      if (read.includes(undefined)) keepOriginal(fields, key, value)
      record[key] = read.filter((item) => item !== undefined)
      log(at(place, key), 'converted', `${shown(value)} is read as a list of texts`)
    } else setAside(fields, key, 'is not a list of texts')
  }
  if (!fallback || Array.isArray(record[key])) return
  record[key] = [...fallback()]
  log(at(place, key), 'filled', 'it was missing; what the calls show is put in')
}

const pathOf = (item: unknown): string | undefined =>
  isRecord(item) ? (textFrom(item['path']) ?? textFrom(item['file'])) : undefined

/** Puts an empty list where there is none. */
export function emptyList({ record, place, log }: Fields, key: string): void {
  if (Array.isArray(record[key])) return
  record[key] = []
  log(at(place, key), 'filled', 'it was missing; an empty list is put in')
}

/** The items of a list, or of an object used as one; undefined when there is no list. */
export function itemsOf({ value, place, log }: Found): Found[] | undefined {
  if (Array.isArray(value))
    return value.map((item, i) => ({ value: item as unknown, place: at(place, i), log }))
  if (!isRecord(value)) return undefined
  log(place, 'converted', 'an object is read as the list of its values')
  return Object.values(value).map((item, i) => ({ value: item, place: at(place, i), log }))
}

/** A time. */
export function time(fields: Fields, key: string, fallback?: Fallback<string>): void {
  const { record, place, log } = fields
  const value = record[key]
  if (Object.hasOwn(record, key) && !(typeof value === 'string' && isIsoTime(value))) {
    const read = timeFrom(value)
    if (read === undefined) setAside(fields, key, 'is not a time')
    else {
      record[key] = read
      log(at(place, key), 'converted', `${shown(value)} is read as ${read}`)
    }
  }
  if (!fallback || record[key] !== undefined) return
  record[key] = fallback()
  log(at(place, key), 'filled', `it was missing; ${String(record[key])} is put in`)
}

/** A time in any form that files have: ISO with or without a zone, a date, unix seconds or milliseconds. */
export function timeFrom(value: unknown): string | undefined {
  if (typeof value === 'number') return fromUnix(value)
  if (typeof value !== 'string') return undefined
  const written = value.trim()
  if (isIsoTime(written)) return written
  if (/^\d{9,14}(\.\d+)?$/.test(written)) return fromUnix(Number(written))
  const spelled =
    /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d(?:[.,]\d+)?)?)?\s*(Z|UTC|[+-]\d\d:?\d\d)?$/i.exec(written)
  if (!spelled) return undefined
  const [, date, minutes = '00:00', seconds = ':00', zone = 'Z'] = spelled
  const colon = /^[+-]\d{4}$/.test(zone) ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone
  const iso = `${date}T${minutes}${seconds.replace(',', '.')}${/^(z|utc)$/i.test(colon) ? 'Z' : colon}`
  return isIsoTime(iso) ? iso : undefined
}

function fromUnix(value: number): string | undefined {
  // Seconds until the year 5138, milliseconds from 1973 on: no time of an agent lies outside both.
  const millis = Math.abs(value) < 1e11 ? value * 1000 : value
  const isDay = Number.isFinite(millis) && millis >= 0 && millis < 253_402_300_800_000
  return isDay ? new Date(Math.round(millis)).toISOString() : undefined
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
