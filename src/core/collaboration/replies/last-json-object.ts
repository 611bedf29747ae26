import { type Foreign, foreignLine } from '../../../contract/formats/foreign-json.ts'
import { jsonValueEnd, type SyntaxFault } from '../../../contract/json-syntax.ts'
import { hasPrototypeKey, maxNesting, tooDeep, withoutPrototypeKeys } from '../../session-log/json/nesting.ts'

/** The last JSON object of a text, or what is wrong with the one that was meant to be it. */
export type LastObject =
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
  for (let at = text.indexOf('{'); at !== -1; ) {
    const end = jsonValueEnd(text, at)
    if (typeof end === 'number') {
      whole = text.slice(at, end)
      at = text.indexOf('{', end)
      continue
    }
    if (isMeant(text, at)) [whole, broken] = [undefined, end]
    // What is open where it breaks is broken too, so the search goes on behind it and stays linear.
    at = text.indexOf('{', Math.max(end.offset, at + 1))
  }
  if (whole !== undefined) return readObject(whole, broken && brokenWords(text, broken))
  return { problem: broken ? brokenWords(text, broken) : 'there is no JSON object in the answer' }
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
  return `the JSON object is broken at line ${line} of the answer: ${message}`
}
