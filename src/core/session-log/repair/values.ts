import { at } from '../json/pointer.ts'
import { isRecord, type JsonRecord } from '../json/value.ts'
import { type Fields, type Found, found, keepOriginal, setAside } from './fields.ts'
import { shown } from './log.ts'

/** A text from what a file has in its place; undefined when it has none to give. */
export function textFrom(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined
}

/** A required text. */
export function text(fields: Fields, key: string, fallback: () => string): void {
  const { record, place, log } = fields
  if (typeof record[key] === 'string') return
  const converted = textFrom(record[key])
  if (converted !== undefined) log(at(place, key), 'converted', `${shown(record[key])} is read as a text`)
  else {
    if (record[key] !== undefined && record[key] !== null) setAside(fields, key, 'is not a text')
    log(at(place, key), 'filled', `it was missing; ${shown(fallback())} is put in`)
  }
  record[key] = converted ?? fallback()
}

/** A required text that is not empty: a name or an id. */
export function id(fields: Fields, key: string, fallback: () => string): void {
  if (fields.record[key] === '') Reflect.deleteProperty(fields.record, key)
  text(fields, key, fallback)
  if (fields.record[key] === '') fields.record[key] = fallback()
}

/** A text that may be absent. */
export function optionalText(fields: Fields, key: string): void {
  const value = fields.record[key]
  if (typeof value === 'string' || !Object.hasOwn(fields.record, key)) return
  const converted = textFrom(value)
  if (converted === undefined) setAside(fields, key, 'is not a text')
  else {
    fields.record[key] = converted
    fields.log(at(fields.place, key), 'converted', `${shown(value)} is read as a text`)
  }
}

/** A flag that may be absent. */
export function optionalFlag(fields: Fields, key: string): void {
  const value = fields.record[key]
  if (typeof value === 'boolean' || !Object.hasOwn(fields.record, key)) return
  const converted = flagFrom(value)
  if (converted === undefined) setAside(fields, key, 'is neither true nor false')
  else {
    fields.record[key] = converted
    fields.log(at(fields.place, key), 'converted', `${shown(value)} is read as ${converted}`)
  }
}

/** True or false from a flag, a word for one, or a check result with `passed`. */
export function flagFrom(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value
  if (value === 1 || value === 0) return value === 1
  if (isRecord(value) && 'passed' in value) return flagFrom(value['passed'])
  if (typeof value !== 'string') return undefined
  const word = value.trim().toLowerCase()
  if (/^(true|yes|y|pass|passed|ok|success|succeeded|green)$/.test(word)) return true
  return /^(false|no|n|fail|failed|error|red)$/.test(word) ? false : undefined
}

type NumberRule = { readonly whole?: boolean; readonly fallback?: () => number }

/** A number that is not negative; required when there is something to fall back to. */
export function amount(fields: Fields, key: string, { whole = false, fallback }: NumberRule): void {
  const { record, place, log } = fields
  const value = record[key]
  if (isAmount(value, whole)) return
  if (!fallback && !Object.hasOwn(record, key)) return
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
  log(at(place, key), 'filled', `${fallback()} is put in`)
}

const isAmount = (value: unknown, whole: boolean): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 && (!whole || Number.isSafeInteger(value))

export type Words<T extends string> = {
  readonly allowed: readonly T[]
  /** Other words for the allowed ones, in lower case with `_`. */
  readonly also?: Readonly<Record<string, T>>
  readonly fallback: (word: string | undefined) => T
}

/** A required word of a fixed list; another word is translated, and kept beside. */
export function word<T extends string>(fields: Fields, key: string, words: Words<T>): void {
  const { record, place, log } = fields
  const value = record[key]
  if (words.allowed.includes(value as T)) return
  const chosen = knownWord(value, words) ?? words.fallback(wordName(value))
  if (value === undefined || value === null || value === '')
    log(at(place, key), 'filled', `it was missing; ${chosen} is put in`)
  else {
    keepOriginal(fields, key, value)
    log(at(place, key), 'translated', `${shown(value)} is read as ${chosen}`)
  }
  record[key] = chosen
}

/** The word of a fixed list that a value means; undefined when it means none. */
export function knownWord<T extends string>(
  value: unknown,
  { allowed, also }: Pick<Words<T>, 'allowed' | 'also'>,
): T | undefined {
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

/** A word of a fixed list that may be absent; one that cannot be translated is set aside. */
export function optionalWord<T extends string>(fields: Fields, key: string, allowed: readonly T[]): void {
  const value = fields.record[key]
  if (!Object.hasOwn(fields.record, key) || allowed.includes(value as T)) return
  const same = knownWord(value, { allowed })
  if (same === undefined) setAside(fields, key, `is none of ${allowed.join(', ')}`)
  else {
    fields.record[key] = same
    fields.log(at(fields.place, key), 'translated', `${shown(value)} is read as ${same}`)
  }
}

/** The items of a list, or of an object used as one; undefined when there is no list. */
export function itemsOf({ value, place, log }: Found): Found[] | undefined {
  if (Array.isArray(value))
    return value.map((item, i) => ({ value: item as unknown, place: at(place, i), log }))
  if (!isRecord(value)) return undefined
  log(place, 'converted', 'an object is read as the list of its values')
  return Object.values(value).map((item, i) => ({ value: item, place: at(place, i), log }))
}

/** A list of texts that may be absent; a single text is a list of one, other items are dropped or read as texts. */
export function optionalTexts(fields: Fields, key: string): void {
  const { record, place, log } = fields
  const value = record[key]
  if (!Object.hasOwn(record, key)) return
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return
  const list = Array.isArray(value) ? value : textFrom(value) === undefined ? undefined : [value]
  if (!list) {
    setAside(fields, key, 'is not a list of texts')
    return
  }
  const texts = list.map((item: unknown) => textFrom(item) ?? pathOf(item))
  if (texts.includes(undefined)) keepOriginal(fields, key, value)
  record[key] = texts.filter((item) => item !== undefined)
  log(at(place, key), 'converted', `${shown(value)} is read as a list of texts`)
}

/** A required list of texts. */
export function texts(fields: Fields, key: string, fallback: () => readonly string[]): void {
  optionalTexts(fields, key)
  if (Array.isArray(fields.record[key])) return
  fields.record[key] = [...fallback()]
  fields.log(at(fields.place, key), 'filled', 'it was missing; what the calls show is put in')
}

const pathOf = (item: unknown): string | undefined =>
  isRecord(item) ? (textFrom(item['path']) ?? textFrom(item['file'])) : undefined

/** The record of a field, repaired by its own rules; put back whole. */
export function nested(fields: Fields, key: string, repair: (found: Found) => JsonRecord | undefined): void {
  const repaired = repair(found(fields, key))
  if (repaired === undefined) {
    if (Object.hasOwn(fields.record, key)) setAside(fields, key, 'cannot be read')
  } else fields.record[key] = repaired
}
