import * as z from 'zod'
import { loosen } from './loosen.ts'

/** A field the format does not document, where it first stands and how often it does. */
export type UndocumentedField = { readonly path: readonly (string | number)[]; count: number }
/** Paths are only spelled for what is found: a file may have millions of fields. */
type Node = { readonly value: unknown; readonly key: string | number; readonly up?: Node }
type Seen = Map<string, UndocumentedField>

/** Fields beyond a schema; the same field of many records counts as one. What the reader set aside is expected. */
export function undocumentedFields(value: unknown, schema: z.ZodType): UndocumentedField[] {
  const seen: Seen = new Map()
  walk(schema, { value, key: '' }, seen)
  return [...seen.values()]
}

function walk(schema: z.core.$ZodType, node: Node, seen: Seen): void {
  const { value } = node
  if (schema instanceof z.ZodOptional) walk(schema.unwrap(), node, seen)
  else if (schema instanceof z.ZodArray && Array.isArray(value))
    value.forEach((item, key) => walk(schema.element, { value: item, key, up: node }, seen))
  else if (schema instanceof z.ZodUnion) {
    const fitting = schema.options.find((option) => loosen(option as z.ZodType).safeParse(value).success)
    if (fitting) walk(fitting, node, seen)
  } else if (schema instanceof z.ZodObject && typeof value === 'object' && value !== null)
    walkObject(schema, node, seen)
}

function walkObject(schema: z.ZodObject, node: Node, seen: Seen): void {
  const { shape } = schema
  const isOpen = schema.def.catchall instanceof z.ZodUnknown
  for (const [key, value] of Object.entries(node.value as Record<string, unknown>)) {
    const known = Object.hasOwn(shape, key) ? shape[key] : undefined
    if (known) walk(known, { value, key, up: node }, seen)
    else if (!isOpen && !key.startsWith('original_')) note({ value, key, up: node }, seen)
  }
}

function note(node: Node, seen: Seen): void {
  const path: (string | number)[] = []
  for (let each = node; each.up; each = each.up) path.unshift(each.key)
  const pattern = path.map((key) => (typeof key === 'number' ? '*' : key)).join('/')
  const earlier = seen.get(pattern)
  if (earlier) earlier.count += 1
  else seen.set(pattern, { path, count: 1 })
}
