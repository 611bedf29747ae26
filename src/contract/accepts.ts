import type * as z from 'zod'

type Check = (value: unknown) => boolean
type Def = { readonly type: string; readonly checks?: readonly z.core.$ZodCheck[] } & Record<string, unknown>

/**
 * A yes-or-no form of a schema that copies nothing: the hot path asks it first and lets zod speak only
 * when the answer is no. A kind of schema it does not know always answers no, so zod stays the judge.
 */
export function accepts(schema: z.core.$ZodType): Check {
  const def = schema._zod.def as unknown as Def
  const base = baseCheck(def)
  const checks = [
    ...(def['check'] ? [ownCheck(def)] : []),
    ...(def.checks ?? []).map((c) => ownCheck(c._zod.def as never)),
  ]
  if (checks.length === 0) return base
  if (checks.length === 1) {
    const [only] = checks as [Check]
    return (value) => base(value) && only(value)
  }
  return (value) => base(value) && checks.every((check) => check(value))
}

function baseCheck(def: Def): Check {
  switch (def.type) {
    case 'string':
      return (value) => typeof value === 'string'
    case 'number':
      return (value) => typeof value === 'number' && Number.isFinite(value)
    case 'boolean':
      return (value) => typeof value === 'boolean'
    case 'unknown':
      return () => true
    case 'enum': {
      const values = new Set<unknown>(Object.values(def['entries'] as object))
      return (value) => values.has(value)
    }
    case 'literal': {
      const values = new Set<unknown>(def['values'] as unknown[])
      return (value) => values.has(value)
    }
    case 'optional': {
      const inner = accepts(def['innerType'] as z.core.$ZodType)
      return (value) => value === undefined || inner(value)
    }
    case 'array': {
      const element = accepts(def['element'] as z.core.$ZodType)
      return (value) => Array.isArray(value) && value.every(element)
    }
    case 'union': {
      const options = (def['options'] as z.core.$ZodType[]).map(accepts)
      return (value) => options.some((option) => option(value))
    }
    case 'record':
      return recordCheck(def)
    case 'object':
      return objectCheck(def)
    default:
      return () => false
  }
}

function ownCheck(def: Def): Check {
  switch (def['check']) {
    case 'max_length':
      return (value) => (value as string | unknown[]).length <= (def['maximum'] as number)
    case 'min_length':
      return (value) => (value as string | unknown[]).length >= (def['minimum'] as number)
    case 'greater_than':
      return def['inclusive']
        ? (value) => (value as number) >= (def['value'] as number)
        : (value) => (value as number) > (def['value'] as number)
    case 'less_than':
      return def['inclusive']
        ? (value) => (value as number) <= (def['value'] as number)
        : (value) => (value as number) < (def['value'] as number)
    case 'number_format':
      return def['format'] === 'safeint' ? Number.isSafeInteger : () => false
    case 'string_format': {
      const pattern = def['pattern']
      return pattern instanceof RegExp && !pattern.global ? remembering(pattern) : () => false
    }
    default:
      return () => false
  }
}

/** Events come in runs of one session, one run, one trace: most ids were the last ones too. */
function remembering(pattern: RegExp): Check {
  let last: unknown
  return (value) => {
    if (value === last) return true
    if (!pattern.test(value as string)) return false
    last = value
    return true
  }
}

function recordCheck(def: Def): Check {
  const key = accepts(def['keyType'] as z.core.$ZodType)
  const value = accepts(def['valueType'] as z.core.$ZodType)
  return (record) => {
    if (!isPlain(record)) return false
    for (const name in record) if (!key(name) || !value(record[name])) return false
    return true
  }
}

function objectCheck(def: Def): Check {
  const shape = def['shape'] as Record<string, z.core.$ZodType>
  const fields = new Map(Object.entries(shape).map(([name, field]) => [name, accepts(field)]))
  const required = Object.keys(shape).filter(
    (name) => (shape[name] as z.core.$ZodType)._zod.optin === undefined,
  )
  const isStrict = (def['catchall'] as z.core.$ZodType | undefined)?._zod.def.type === 'never'
  if (!isStrict) return () => false
  return (value) => {
    if (!isPlain(value)) return false
    for (const name in value) {
      const field = fields.get(name)
      if (field === undefined || !field(value[name])) return false
    }
    for (const name of required) if (value[name] === undefined && !(name in value)) return false
    return true
  }
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
