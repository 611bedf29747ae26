import * as z from 'zod'
import { loosen } from './loosen.ts'

type Path = readonly (string | number)[]
/** A field the format does not document, where it first stands and how often it does. */
export type UndocumentedField = { readonly path: Path; count: number }
type Node = { readonly value: unknown; readonly path: Path; readonly pattern: string }
type Seen = Map<string, UndocumentedField>

/** Fields beyond a schema; the same field of many records counts as one. What the reader set aside is expected. */
export function undocumentedFields(value: unknown, schema: z.ZodType): UndocumentedField[] {
  const seen: Seen = new Map()
  walk(schema, { value, path: [], pattern: '' }, seen)
  return [...seen.values()]
}

function walk(schema: z.core.$ZodType, node: Node, seen: Seen): void {
  const { value, path, pattern } = node
  if (schema instanceof z.ZodOptional) walk(schema.unwrap(), node, seen)
  else if (schema instanceof z.ZodArray && Array.isArray(value))
    value.forEach((item, i) =>
      walk(schema.element, { value: item, path: [...path, i], pattern: `${pattern}/*` }, seen),
    )
  else if (schema instanceof z.ZodUnion) {
    const fitting = schema.options.find((option) => loosen(option as z.ZodType).safeParse(value).success)
    if (fitting) walk(fitting, node, seen)
  } else if (schema instanceof z.ZodObject && typeof value === 'object' && value !== null)
    walkObject(schema, node, seen)
}

function walkObject(schema: z.ZodObject, { value, path, pattern }: Node, seen: Seen): void {
  const isOpen = schema.def.catchall instanceof z.ZodUnknown
  for (const [key, field] of Object.entries(value as Record<string, unknown>)) {
    const inner = { value: field, path: [...path, key], pattern: `${pattern}/${key}` }
    const known = Object.hasOwn(schema.shape, key) ? schema.shape[key] : undefined
    if (known) walk(known, inner, seen)
    else if (!isOpen && !key.startsWith('original_')) {
      const earlier = seen.get(inner.pattern)
      if (earlier) earlier.count += 1
      else seen.set(inner.pattern, { path: inner.path, count: 1 })
    }
  }
}
