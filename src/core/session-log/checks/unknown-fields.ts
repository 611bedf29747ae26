import * as z from 'zod'
import { loosen } from '../../../contract/formats/std-008/loosen.ts'
import { isRecord } from '../json/value.ts'
import type { Report } from '../report.ts'

type Seen = Map<string, { readonly path: readonly (string | number)[]; count: number }>

/** Fields the format does not document; the same field of many records is reported once, with a count. */
export function checkUnknownFields(value: unknown, schema: z.ZodType, report: Report): void {
  const seen: Seen = new Map()
  walk(schema, { value, path: [], pattern: '' }, seen)
  for (const { path, count } of seen.values())
    report(
      'unknown_field',
      path,
      count === 1 ? 'not a field of the format' : `not a field of the format, ${count} times`,
    )
}

type Node = { readonly value: unknown; readonly path: readonly (string | number)[]; readonly pattern: string }

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
  } else if (schema instanceof z.ZodObject && isRecord(value)) walkObject(schema, node, seen)
}

function walkObject(schema: z.ZodObject, { value, path, pattern }: Node, seen: Seen): void {
  const isOpen = schema.def.catchall instanceof z.ZodUnknown
  for (const [key, field] of Object.entries(value as Record<string, unknown>)) {
    const inner = { value: field, path: [...path, key], pattern: `${pattern}/${key}` }
    const known = schema.shape[key]
    if (known) walk(known, inner, seen)
    else if (!isOpen && !key.startsWith('original_')) {
      const earlier = seen.get(inner.pattern)
      if (earlier) earlier.count += 1
      else seen.set(inner.pattern, { path: inner.path, count: 1 })
    }
  }
}
