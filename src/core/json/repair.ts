import { at, isRecord, type JsonRecord, type Place, pointerOf } from './json-value.ts'

/** A record under repair: an own copy, its place, and where repairs are noted. */
export type Fields = { readonly record: JsonRecord; readonly place: Place; readonly log: RepairLog }
/** A value under repair, with its place. */
export type Found = { readonly value: unknown; readonly place: Place; readonly log: RepairLog }

/** The fields of a copy of an object; undefined when the value is none. */
export function fieldsOf({ value, place, log }: Found): Fields | undefined {
  if (!isRecord(value)) return undefined
  return { record: { ...value }, place, log }
}

/** The value of one field, with its place. */
export const found = (fields: Fields, key: string): Found => ({
  value: fields.record[key],
  place: at(fields.place, key),
  log: fields.log,
})

/** Takes a missing field from the first of its other names that is there. */
export function rename(fields: Fields, key: string, others: readonly string[]): void {
  const { record, place, log } = fields
  if (record[key] !== undefined && record[key] !== null) return
  const other = others.find((name) => Object.hasOwn(record, name) && record[name] !== null)
  if (other === undefined) return
  record[key] = record[other]
  Reflect.deleteProperty(record, other)
  log(at(place, key), 'renamed', `${other} is read as ${key}`)
}

/** Keeps a value that does not fit beside its field, under original_…, and takes it out of the field. */
export function setAside(fields: Fields, key: string, why: string): void {
  const { record, place, log } = fields
  const value = record[key]
  Reflect.deleteProperty(record, key)
  if (value === undefined || value === null) {
    log(at(place, key), 'dropped', `${shown(value)} ${why}`)
    return
  }
  keepOriginal(fields, key, value)
  log(at(place, key), 'set_aside', `${shown(value)} ${why}; it is kept as original_${key}`)
}

/** Keeps what a field was before it was translated; an original that is already there is older and stays. */
export function keepOriginal({ record }: Fields, key: string, value: unknown): void {
  const name = `original_${key}`
  if (!Object.hasOwn(record, name) && value !== undefined && value !== null) record[name] = value
}

/** What the reader can do to a file, by name. */
export const repairCodes = [
  'renamed', // a field had another name
  'filled', // a missing field was filled in
  'translated', // a value was put into the format's words
  'converted', // a value was put into the format's type
  'set_aside', // a value that does not fit was kept under original_…
  'dropped', // something that holds no information, or is unsafe, was left out
  'lifted', // an older shape was lifted to the present one
  'moved', // a value was in another place
  'linked', // a link between records was added or repaired
  'made', // a record that others point at was made
  'downgraded', // a collaboration that has no trace of one became a single session
] as const
export type RepairCode = (typeof repairCodes)[number]

/** One repair: where, which kind, what was found and what was done. */
export type Repair = { readonly path: string; readonly code: RepairCode; readonly message: string }

/** Notes repairs as they are made. */
export type RepairLog = (place: Place, code: RepairCode, message: string) => void

export function collectRepairs(): { log: RepairLog; repairs: Repair[] } {
  const repairs: Repair[] = []
  return { repairs, log: (place, code, message) => repairs.push({ path: pointerOf(place), code, message }) }
}

/** A value as a repair's message shows it. */
export function shown(value: unknown): string {
  if (value === undefined) return 'nothing'
  const kind = Array.isArray(value)
    ? 'a list'
    : typeof value === 'object' && value !== null
      ? 'an object'
      : ''
  if (kind) return kind
  const text = JSON.stringify(value)
  return text.length > 60 ? `${text.slice(0, 57)}…` : text
}
