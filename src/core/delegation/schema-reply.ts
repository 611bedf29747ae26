import * as z from 'zod'
import { AppError } from '../../contract/errors.ts'
import { sha256Hex } from '../../contract/sha256.ts'
import type { JsonSchema } from './assignment.ts'
import { lastJsonObject, type ReplyResult, readReply } from './read-reply.ts'

/** A schema in a word: the same for the same schema, and short enough to stand in every end. */
export function schemaName(schema: JsonSchema): string {
  const digest = sha256Hex(JSON.stringify(schema)).slice(0, 12)
  const title =
    typeof schema['title'] === 'string' ? schema['title'].replaceAll(/[^\w.-]+/g, '-').slice(0, 64) : ''
  return `schema:${title === '' ? '' : `${title}@`}${digest}`
}

/** Agents end with an object: a value of another kind is asked for in one. */
export const asObject = (schema: JsonSchema): JsonSchema =>
  isObject(schema) ? schema : { type: 'object', properties: { value: schema }, required: ['value'] }

const isObject = ({ type, properties }: JsonSchema): boolean => type === 'object' || properties !== undefined

/** Reads an answer that was asked for in a schema. */
export function readSchemaReply(schema: JsonSchema): (text: string) => ReplyResult<unknown> {
  const read = reading(asObject(schema))
  if (isObject(schema)) return read
  return (text) => {
    const said = read(text)
    return 'value' in said ? { value: (said.value as { value: unknown }).value } : said
  }
}

function reading(schema: JsonSchema): (text: string) => ReplyResult<unknown> {
  const made = zodOf(schema)
  return (text) => {
    const last = lastJsonObject(text)
    const exact = 'value' in last && last.broken === undefined ? made.safeParse(last.value) : undefined
    return exact?.success ? { value: exact.data } : readReply(text, { schema: made })
  }
}

function zodOf(schema: JsonSchema): z.ZodType {
  try {
    return z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0])
  } catch (error) {
    throw new AppError('invalid', `schema: ${(error as Error).message}`)
  }
}
