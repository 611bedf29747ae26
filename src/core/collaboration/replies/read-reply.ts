import type * as z from 'zod'
import { schemaProblems } from '../../../contract/config/schema-problems.ts'
import { type Foreign, isForeign } from '../../../contract/formats/foreign-json.ts'
import { lastJsonObject } from './last-json-object.ts'

/** An agent's answer as data, or what to tell it so that it can answer again. */
export type Read<T> = { readonly value: T } | { readonly problems: readonly string[] }

type Reading<T> = {
  readonly schema: z.ZodType<T>
  /** Puts the words of an agent into those of the schema. */
  readonly translate?: (value: Foreign) => unknown
  /** What no schema can say. */
  readonly check?: (value: T, said: Foreign) => readonly string[]
}

const mostProblems = 20
const noNames = { beside: () => [], all: () => [] }

/** Reads the last JSON object of an agent's words. Total: whatever is said gives a value or problems. */
export function readReply<T>(words: string, { schema, translate, check }: Reading<T>): Read<T> {
  const last = lastJsonObject(words)
  if ('problem' in last) return { problems: [last.problem] }
  const said = withoutNulls(last.value) as Foreign
  const parsed = schema.safeParse(translate ? translate(said) : said, { reportInput: true })
  if (!parsed.success) {
    const problems = schemaProblems(parsed.error.issues, noNames).map(
      ({ path, message }) => `${path.map(String).join('.') || 'the answer'}: ${message}`,
    )
    // A piece of a broken object lacks fields that the whole one had; only the break is worth a word then.
    return { problems: last.broken === undefined ? problems.slice(0, mostProblems) : [last.broken] }
  }
  const problems = check?.(parsed.data, said) ?? []
  return problems.length > 0 ? { problems: problems.slice(0, mostProblems) } : { value: parsed.data }
}

/** A copy without fields that are null: to many models that is a way of leaving them out. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isForeign(value)) return value
  const kept = Object.entries(value).filter(([, field]) => field !== null)
  return Object.fromEntries(kept.map(([key, field]) => [key, withoutNulls(field)]))
}
