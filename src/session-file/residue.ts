import { isRecord, type JsonRecord, pointer, sameJson, setField, stepsOf } from '../core/json/json-value.ts'

/** What a record had beyond what can be rebuilt from its events: other values, and fields it did not have. */
export type Residue = { readonly fields?: JsonRecord; readonly absent?: readonly string[] }

/** The difference that turns what was rebuilt into the original. */
export function residueOf(original: JsonRecord, rebuilt: JsonRecord): Residue {
  const absent: string[] = []
  const fields = difference({ original, rebuilt, path: [] }, absent)
  return {
    ...(Object.keys(fields).length > 0 ? { fields } : {}),
    ...(absent.length > 0 ? { absent } : {}),
  }
}

type Pair = { readonly original: JsonRecord; readonly rebuilt: JsonRecord; readonly path: readonly string[] }

function difference({ original, rebuilt, path }: Pair, absent: string[]): JsonRecord {
  const fields: JsonRecord = {}
  for (const key of Object.keys(rebuilt))
    if (!Object.hasOwn(original, key)) absent.push(pointer([...path, key]))
  for (const [key, value] of Object.entries(original)) {
    const other = Object.hasOwn(rebuilt, key) ? rebuilt[key] : undefined
    if (Object.hasOwn(rebuilt, key) && sameJson(value, other)) continue
    if (isRecord(value) && isRecord(other)) {
      const inner = difference({ original: value, rebuilt: other, path: [...path, key] }, absent)
      if (Object.keys(inner).length > 0) setField(fields, key, inner)
    } else setField(fields, key, value)
  }
  return fields
}

/** The original again, from what was rebuilt and the difference. */
export function applyResidue(rebuilt: JsonRecord, { fields, absent }: Residue): JsonRecord {
  const whole = fields ? merged(rebuilt, fields) : { ...rebuilt }
  return (absent ?? []).reduce((record, path) => without(record, stepsOf(path)), whole)
}

function merged(rebuilt: JsonRecord, fields: JsonRecord): JsonRecord {
  const whole = { ...rebuilt }
  for (const [key, value] of Object.entries(fields)) {
    const other = Object.hasOwn(rebuilt, key) ? rebuilt[key] : undefined
    setField(whole, key, isRecord(value) && isRecord(other) ? merged(other, value) : value)
  }
  return whole
}

function without(record: JsonRecord, [step, ...rest]: readonly string[]): JsonRecord {
  if (step === undefined || !Object.hasOwn(record, step)) return record
  const copy = { ...record }
  const inner = copy[step]
  if (rest.length === 0) Reflect.deleteProperty(copy, step)
  else if (isRecord(inner)) setField(copy, step, without(inner, rest))
  return copy
}
