import * as z from 'zod'
import { amount, emptyList, endNotBefore, flag, id, itemsOf, text, texts, time, word } from './field-kinds.ts'
import type { JsonRecord } from './json-value.ts'
import { type Fields, type Found, fieldsOf, found, rename, setAside, shown } from './repair.ts'

/** What a reader knows of one field beyond its schema, which says its name, its kind and whether it may be absent. */
export type Row<C> = {
  /** Names under which other writers have it. */
  readonly aliases?: readonly string[]
  /** What other writers say for the words of the schema. */
  readonly words?: Readonly<Record<string, string>>
  /** What a required field gets when it is missing or cannot be read: a value, or what the record gives for it. */
  readonly fallback?: Value | ((record: JsonRecord, context: C, word?: string) => Value)
  /** The field that this one, an end, may not lie before. */
  readonly notBefore?: string
  /** How the records of a list are read. */
  readonly list?: ListRow<C>
  /** How an object is read that may be absent, and what is said of another value in its place. */
  readonly record?: { readonly table: FieldTable<void>; readonly not: string }
  /** Reads a field whose shape is its own. */
  readonly read?: (fields: Fields, key: string, context: C) => void
}

type Value = string | number | boolean | readonly string[]

type ListRow<C> = {
  /** What is said of a value that is no such list, and of an item that is no such record. */
  readonly not: string
  readonly item: string
  readonly read: (item: Found, position: number, context: C) => JsonRecord | undefined
}

type Read<C> = (fields: Fields, context: C) => void
type Column<C> = { readonly key: string; readonly row: Row<C>; readonly read: Read<C> | undefined }

/** How the records of one kind are read, field by field, in the order of the rows. */
export type FieldTable<C> = readonly Column<C>[]

/** The table of a record: its schema, and a row for each field that needs one. */
export function fieldTable<C = void>(
  { shape }: z.ZodObject,
  rows: Readonly<Record<string, Row<C>>>,
): FieldTable<C> {
  const others = Object.keys(shape).filter((key) => !Object.hasOwn(rows, key))
  return [...Object.keys(rows), ...others].map((key) => {
    if (!Object.hasOwn(shape, key)) throw new Error(`the schema has no field ${key}`)
    const row = rows[key] ?? {}
    return { key, row, read: readerOf(shape[key], key, row) }
  })
}

/** Reads a record by its table, in place: first every field gets its own name, then its value is read. */
export function readFields<C>(fields: Fields, table: FieldTable<C>, context: C): JsonRecord {
  for (const { key, row } of table) if (row.aliases) rename(fields, key, row.aliases)
  for (const { key, row, read } of table) {
    read?.(fields, context)
    if (row.notBefore !== undefined) endNotBefore(fields, row.notBefore, key)
  }
  return fields.record
}

/** A copy of an object, read by a table; undefined when the value is none. */
export function readRecord<C>(item: Found, table: FieldTable<C>, context: C): JsonRecord | undefined {
  const fields = fieldsOf(item)
  return fields && readFields(fields, table, context)
}

/** Reads a list of records; an empty one is put in where one is missing that must be there. */
export function readList(fields: Fields, key: string, list: ListRow<void> & { isOptional?: boolean }): void {
  const { record } = fields
  const isThere = Object.hasOwn(record, key)
  if (list.isOptional && !isThere) return
  const items = itemsOf(found(fields, key))
  if (!items && isThere) setAside(fields, key, list.not)
  if (items)
    record[key] = items.flatMap((item, position) => {
      const read = list.read(item, position, undefined)
      if (!read) item.log(item.place, 'dropped', `${shown(item.value)} ${list.item}`)
      return read ? [read] : []
    })
  if (!list.isOptional) emptyList(fields, key)
}

/** A text in the place of a record, which it is read as. */
export function liftText(item: Found, says: string, record: (text: string) => JsonRecord): Found {
  if (typeof item.value !== 'string') return item
  item.log(item.place, 'lifted', says)
  return { ...item, value: record(item.value) }
}

/** The name of a record that has none, by its place in its list. */
export const numbered =
  (name: string) =>
  (_record: JsonRecord, { position }: { readonly position: number }): string =>
    `${name}-${String(position + 1).padStart(3, '0')}`

function readerOf<C>(whole: unknown, key: string, row: Row<C>): Read<C> | undefined {
  const { read, list, record } = row
  const isOptional = whole instanceof z.ZodOptional
  if (read) return (fields, context) => read(fields, key, context)
  if (list)
    return (fields, context) =>
      readList(fields, key, {
        ...list,
        isOptional,
        read: (item, position) => list.read(item, position, context),
      })
  if (record)
    return (fields) => {
      if (!Object.hasOwn(fields.record, key)) return
      const inner = readRecord(found(fields, key), record.table, undefined)
      if (inner) fields.record[key] = inner
      else setAside(fields, key, record.not)
    }
  const reader = byKind(isOptional ? whole.unwrap() : whole, key, row)
  if (reader && !isOptional && row.fallback === undefined)
    throw new Error(`${key} is required: say what it falls back to`)
  return reader
}

/** Reads a field by the kind that its schema says; undefined for one that is kept as it is. */
function byKind<C>(schema: unknown, key: string, { words, fallback }: Row<C>): Read<C> | undefined {
  const given = <T>({ record }: Fields, context: C): ((name?: string) => T) | undefined =>
    fallback === undefined
      ? undefined
      : (name) => (typeof fallback === 'function' ? fallback(record, context, name) : fallback) as T
  if (schema instanceof z.ZodEnum) {
    const allowed = schema.options as string[]
    return (fields, context) => word(fields, key, { allowed, also: words, fallback: given(fields, context) })
  }
  if (schema instanceof z.ZodISODateTime)
    return (fields, context) => time(fields, key, given(fields, context))
  if (schema instanceof z.ZodString) {
    const kind = schema.minLength ? id : text
    return (fields, context) => kind(fields, key, given(fields, context))
  }
  if (schema instanceof z.ZodBoolean) return (fields, context) => flag(fields, key, given(fields, context))
  if (schema instanceof z.ZodNumber) {
    const whole = schema.isInt
    return (fields, context) => amount(fields, key, { whole, fallback: given(fields, context) })
  }
  if (!(schema instanceof z.ZodArray) || !(schema.element instanceof z.ZodString)) return undefined
  if (Array.isArray(fallback))
    return (fields) => {
      texts(fields, key)
      emptyList(fields, key)
    }
  return (fields, context) => texts(fields, key, given(fields, context))
}
