import * as z from 'zod'
import { AgentSession } from '../contract/session-file/agent-session.ts'
import { messagePayloads } from '../contract/session-file/message-payloads.ts'
import { MultiAgentSession, SingleAsMultiAgent } from '../contract/session-file/multi-agent-session.ts'

const made = new WeakMap<z.core.$ZodType, z.ZodType>()

/** A single-agent session as it is read: documented fields checked, unknown ones kept. */
export const LooseAgentSession = loosen(AgentSession)
/** A multi-agent session as it is read. */
export const LooseMultiAgentSession = loosen(MultiAgentSession)

/** A single session seen as a collaboration, as it is read. */
export const LooseSingleAsMultiAgent = loosen(SingleAsMultiAgent)

/** A message's payload as it is read, by message type. */
export const loosePayloads = Object.fromEntries(
  Object.entries(messagePayloads).map(([type, schema]) => [type, loosen(schema as z.ZodType)]),
) as Record<keyof typeof messagePayloads, z.ZodType>

/** The reading twin of a schema: the same fields, but unknown ones are kept at every level. */
export function loosen<T extends z.ZodType>(schema: T): z.ZodType<z.output<T>> {
  const known = made.get(schema)
  if (known) return known as z.ZodType<z.output<T>>
  const loose = twin(schema)
  made.set(schema, loose)
  return loose as z.ZodType<z.output<T>>
}

function twin(schema: z.core.$ZodType): z.ZodType {
  if (schema instanceof z.ZodObject) return looseObject(schema)
  if (schema instanceof z.ZodArray) return z.array(loosenCore(schema.element))
  if (schema instanceof z.ZodOptional) return loosenCore(schema.unwrap()).optional()
  if (schema instanceof z.ZodUnion) return z.union(schema.options.map((option) => loosenCore(option)))
  return schema as z.ZodType
}

function looseObject(schema: z.ZodObject): z.ZodType {
  const shape = Object.fromEntries(
    Object.entries(schema.shape).map(([key, field]) => [key, loosenCore(field)]),
  )
  const checks = schema.def.checks ?? []
  const loose = z.looseObject(shape)
  return checks.length > 0 ? loose.check(...(checks as z.core.$ZodCheck<Record<string, unknown>>[])) : loose
}

function loosenCore(schema: z.core.$ZodType): z.ZodType {
  return loosen(schema as z.ZodType)
}

/** A field the format does not document, where it first occurs and how often. */
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

const Call = z.looseObject({
  call_id: z.string(),
  tool_name: z.string(),
  subagent_info: z.looseObject({ sub_session_id: z.string().optional() }).optional(),
})

/** The least a file must have for its links to be followed. */
export const Skeleton = z.looseObject({
  session_id: z.string(),
  tool_calls: z.array(Call),
  collaboration: z.looseObject({ mode: z.unknown() }),
  sub_sessions: z.array(
    z.looseObject({
      sub_session_id: z.string(),
      parent_session_id: z.string(),
      triggered_by_call_id: z.string(),
      tool_calls: z.array(Call),
    }),
  ),
})
