import * as z from 'zod'
import { cell, code } from './markdown.ts'

/** The part of JSON Schema that zod writes. */
type Schema = {
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: Schema | boolean
  readonly format?: string
  readonly pattern?: string
}

export type Direction = 'input' | 'output'

/** The fields of an object, or of the items of a list, as a table; inner fields stand under dotted names. */
export function fieldTable(schema: z.ZodType, io: Direction): string {
  const shape = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Schema
  const rows = shape.items ? [...rowsOf(shape.items, '[].')] : [...rowsOf(shape, '')]
  if (rows.length === 0) return 'No fields.'
  return ['| field | type | |', '|---|---|---|', ...rows].join('\n')
}

/** The type of a value in words. */
export function typeText(schema: z.ZodType, io: Direction): string {
  return nameOf(z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Schema)
}

function* rowsOf(schema: Schema, prefix: string): Generator<string> {
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const path = `${prefix}${name}`
    const need = schema.required?.includes(name) ? 'required' : ''
    yield `| ${code(path)} | ${cell(nameOf(field))} | ${need} |`
    const inner = field.items ?? field
    if (inner.properties && !isBlob(inner)) yield* rowsOf(inner, `${path}${field.items ? '[]' : ''}.`)
  }
}

function nameOf(schema: Schema): string {
  const choices = schema.anyOf ?? schema.oneOf
  if (choices)
    return choices.some(isBlob) ? 'text of any length' : [...new Set(choices.map(nameOf))].join(' or ')
  if (schema.const !== undefined) return code(JSON.stringify(schema.const))
  if (schema.enum) return schema.enum.map((one) => code(String(one))).join(', ')
  if (schema.items) return `list of ${nameOf(schema.items)}`
  if (schema.format === 'date-time') return 'time'
  if (schema.pattern && /^\^[a-z]{3}_/.test(schema.pattern))
    return `id ${code(`${schema.pattern.slice(1, 5)}…`)}`
  if (schema.type === 'object') return schema.properties ? 'object' : mapName(schema)
  return schema.type === undefined ? 'any JSON' : [schema.type].flat().map(plainName).join(' or ')
}

function plainName(type: string): string {
  if (type === 'integer') return 'whole number'
  if (type === 'boolean') return 'true or false'
  return type === 'string' ? 'text' : type
}

function mapName({ additionalProperties }: Schema): string {
  const isPlain = typeof additionalProperties !== 'object' || Object.keys(additionalProperties).length === 0
  return isPlain ? 'any object' : `map to ${nameOf(additionalProperties)}`
}

function isBlob(schema: Schema): boolean {
  return schema.properties !== undefined && '$blob' in schema.properties
}
