import * as z from 'zod'
import { amount, emptyList, endNotBefore, flag, id, itemsOf, text, texts, time, word } from './field-kinds.ts'
import { isRecord, type JsonRecord } from './json-value.ts'
import { type Fields, type Found, found, rename, setAside, shown } from './repair.ts'

/** What a reader knows of one field beyond its schema, which says its name, its kind and whether it may be absent. */
export type Row<C> = {
  /** Names under which other writers have it. */
  readonly aliases?: readonly string[]
  /** What other writers say for the words of the schema. */
  readonly words?: Readonly<Record<string, string>>
  /** What a required field gets when it is missing or cannot be read: a value, or what the record gives for it. */
  readonly fallback?: unknown
  /** The field that this one, an end, may not lie before. */
  readonly notBefore?: string
  /** How the records of a list are read. */
  readonly list?: ListRow<C>
  /** Reads a field whose shape is its own. */
  readonly read?: (fields: Fields, key: string, context: C) => void
}

type ListRow<C> = {
  /** What is said of a value that is no such list, and of an item that is no such record. */
  readonly not: string
  readonly item: string
  readonly read: (item: Found, position: number, context: C) => JsonRecord | undefined
}

type Column<C> = { readonly key: string; readonly row: Row<C>; readonly read: Read<C> | undefined }
type Read<C> = (fields: Fields, context: C) => void

/** How the records of one kind are read, field by field, in the order of the rows. */
export type FieldTable<C> = readonly Column<C>[]

/** The table of a record: its schema, and a row for each field that needs one. */
export function fieldTable<C, S extends z.ZodRawShape>(
  { shape }: z.ZodObject<S>,
  rows: { readonly [K in keyof S]?: Row<C> },
): FieldTable<C> {
  const given = Object.entries(rows) as [string, Row<C>][]
  const others = Object.keys(shape).filter((key) => !Object.hasOwn(rows, key))
  return [...given, ...others.map((key) => [key, {}] as [string, Row<C>])].map(([key, row]) => ({
    key,
    row,
    read: row.read ? (fields, context) => row.read?.(fields, key, context) : byKind(shape, key, row),
  }))
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

/** Reads a field by the kind that its schema says; undefined for one that is kept as it is. */
function byKind<C>(shape: z.ZodRawShape, key: string, row: Row<C>): Read<C> | undefined {
  const whole = shape[key]
  const isOptional = whole instanceof z.ZodOptional
  const schema: unknown = isOptional ? whole.unwrap() : whole
  if (row.list) return listReader(key, row.list, isOptional)
  const given = <T>({ record }: Fields, context: C): (() => T) | undefined => {
    if (isOptional || row.fallback === undefined) return undefined
    return () => (typeof row.fallback === 'function' ? row.fallback(record, context) : row.fallback) as T
  }
  if (schema instanceof z.ZodEnum)
    return (fields, context) =>
      word(fields, key, {
        allowed: schema.options as string[],
        also: row.words,
        fallback: isOptional ? undefined : (name) => wordFor(row, name, { record: fields.record, context }),
      })
  if (schema instanceof z.ZodISODateTime) return (fields, context) => time(fields, key, given(fields, context))
  if (schema instanceof z.ZodString && schema.minLength)
    return (fields, context) => id(fields, key, given(fields, context))
  if (schema instanceof z.ZodString) return (fields, context) => text(fields, key, given(fields, context))
  if (schema instanceof z.ZodBoolean) return (fields, context) => flag(fields, key, given(fields, context))
  if (schema instanceof z.ZodNumber)
    return (fields, context) =>
      amount(fields, key, { whole: schema.isInt, fallback: given(fields, context) })
  if (!(schema instanceof z.ZodArray) || !(schema.element instanceof z.ZodString)) return undefined
  if (Array.isArray(row.fallback)) return (fields) => (texts(fields, key), emptyList(fields, key))
  return (fields, context) => texts(fields, key, given(fields, context))
}

type Place<C> = { readonly record: JsonRecord; readonly context: C }

function wordFor<C>({ fallback }: Row<C>, name: string | undefined, { record, context }: Place<C>): string {
  return typeof fallback === 'function' ? fallback(record, context, name) : (fallback as string)
}

function listReader<C>(key: string, { not, item, read }: ListRow<C>, isOptional: boolean): Read<C> {
  return (fields, context) => {
    const { record } = fields
    const isThere = Object.hasOwn(record, key)
    if (isOptional && !isThere) return
    const items = itemsOf(found(fields, key))
    if (!items && isThere) setAside(fields, key, not)
    if (items)
      record[key] = items.flatMap((each, position) => {
        const one = read(each, position, context)
        if (!one) each.log(each.place, 'dropped', `${shown(each.value)} ${item}`)
        return one ? [one] : []
      })
    if (!isOptional) emptyList(fields, key)
  }
}

/** The fields of an object that is read by a table; undefined when the value is none. */
export function readRecord<C>({ value, place, log }: Found, table: FieldTable<C>, context: C): JsonRecord | undefined {
  return isRecord(value) ? readFields({ record: { ...value }, place, log }, table, context) : undefined
}

/** A text in the place of a record, read as one of its fields. */
export function liftText(item: Found, key: string, says: string): Found {
  if (typeof item.value !== 'string') return item
  item.log(item.place, 'lifted', says)
  return { ...item, value: { [key]: item.value } }
}
