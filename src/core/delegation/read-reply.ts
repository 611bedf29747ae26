import type * as z from 'zod'
import { schemaProblems } from '../../contract/config/schema-problems.ts'
import { type Foreign, foreignLine, isForeign } from '../../contract/formats/foreign-json.ts'
import { jsonValueEnd, type SyntaxFault } from '../../contract/json-syntax.ts'
import { hasPrototypeKey, maxNesting, tooDeep, withoutPrototypeKeys } from '../json/json-value.ts'

/** An agent's answer as data, or what to tell it so that it can answer again. */
export type ReplyResult<T> = { readonly value: T } | { readonly problems: readonly string[] }

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
export function readReply<T>(words: string, { schema, translate, check }: Reading<T>): ReplyResult<T> {
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
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isForeign(value)) return value
  const kept = Object.entries(value).filter(([, field]) => field !== null)
  return Object.fromEntries(kept.map(([key, field]) => [key, withoutNulls(field)]))
}

/** The last JSON object of a text, or what is wrong with the one that was meant to be it. */
type LastObject =
  | {
      readonly value: Foreign
      /** What was wrong with an object before it, of which it may be a part. */
      readonly broken?: string
    }
  | { readonly problem: string }

const meantAsJson = /\{\s*"(?:[^"\\\n]|\\.)*"\s*:/y

/**
 * Reads the object that an agent ends its words with, in a fence or bare. One that is broken or cut off hides
 * every object before it: an earlier draft, or an example of the prompt that was said again, is no answer.
 */
export function lastJsonObject(text: string): LastObject {
  let whole: string | undefined
  let broken: SyntaxFault | undefined
  for (const found of jsonSpans(text)) {
    if ('end' in found) whole = text.slice(found.at, found.end)
    else if (isMeant(text, found.at)) [whole, broken] = [undefined, found.fault]
  }
  if (whole !== undefined) return readObject(whole, broken && brokenWords(text, broken))
  return { problem: broken ? brokenWords(text, broken) : 'there is no JSON object in the answer' }
}

/** A JSON object in a text, or what is wrong with what was meant to be one; and where it begins. */
export type FoundObject = { readonly at: number } & (
  | { readonly value: Foreign }
  | { readonly problem: string }
)

/** The JSON objects of a text that are not inside of others, in their order. */
export function jsonObjects(text: string): FoundObject[] {
  return [...jsonSpans(text)].flatMap((found): FoundObject[] => {
    const { at } = found
    if ('end' in found) return [{ at, ...readObject(text.slice(at, found.end), undefined) }]
    return isMeant(text, at) ? [{ at, problem: brokenWords(text, found.fault) }] : []
  })
}

type JsonSpan =
  | { readonly at: number; readonly end: number }
  | { readonly at: number; readonly fault: SyntaxFault }

/** Where objects begin in a text, and where they end or break; those inside of a whole one are a part of it. */
function* jsonSpans(text: string): Generator<JsonSpan> {
  for (let at = text.indexOf('{'); at !== -1; ) {
    const end = jsonValueEnd(text, at)
    const isWhole = typeof end === 'number'
    yield isWhole ? { at, end } : { at, fault: end }
    // What is open where it breaks is broken too, so the search goes on behind it and stays linear.
    at = text.indexOf('{', isWhole ? end : Math.max(end.offset, at + 1))
  }
}

function readObject(json: string, broken: string | undefined): LastObject {
  const value = foreignLine(json)
  if (value === undefined) return { problem: 'the JSON object cannot be read' }
  if (tooDeep(value)) return { problem: `the JSON object is nested deeper than ${maxNesting} levels` }
  const safe = hasPrototypeKey(value) ? (withoutPrototypeKeys(value, () => {}) as Foreign) : value
  return { value: safe, ...(broken === undefined ? {} : { broken }) }
}

function isMeant(text: string, at: number): boolean {
  meantAsJson.lastIndex = at
  return meantAsJson.test(text)
}

function brokenWords(text: string, { offset, message }: SyntaxFault): string {
  if (offset >= text.length) return `the JSON object is cut off: ${message}`
  const line = text.slice(0, offset).split('\n').length
  return `the JSON object is broken at line ${line}: ${message}`
}
