import { createHash } from 'node:crypto'
import * as z from 'zod'

const Count = z.int().nonnegative()
const Milliseconds = Count.max(10 * 60_000)

/** Token counts of one answer. A count that is not named is 0; reasoning is a part of output. */
const Usage = z
  .strictObject({
    input: Count.default(0),
    output: Count.default(0),
    cacheRead: Count.default(0),
    cacheWrite: Count.default(0),
    reasoning: Count.default(0),
  })
  .refine(({ reasoning, output }) => reasoning <= output, 'reasoning is a part of output, and larger')
export type Usage = z.infer<typeof Usage>

const ScriptedCall = z.strictObject({
  name: z.string().min(1),
  /** A text is for tools that take free text instead of fields. */
  input: z.union([z.record(z.string(), z.unknown()), z.string()]).default({}),
  id: z
    .string()
    .regex(/^[A-Za-z0-9_-]+$/)
    .optional(),
  /** Where the tool is offered inside a group; found in the request when it is left out. */
  namespace: z.string().optional(),
  /** Its input breaks off in the middle of the JSON; where calls are not sent as text, the answer ends without it. */
  broken: z.boolean().default(false),
})
export type ScriptedCall = z.infer<typeof ScriptedCall>

const StopReason = z.enum(['end_turn', 'tool_use', 'max_tokens', 'refusal'])
export type StopReason = z.infer<typeof StopReason>

/** What the model does in one turn. */
export const Step = z.strictObject({
  text: z.string().optional(),
  thinking: z.string().optional(),
  tools: z.array(ScriptedCall).default([]),
  usage: Usage.optional(),
  stopReason: StopReason.optional(),
  /** Waits before the answer begins. */
  delayMs: Milliseconds.optional(),
  /** Waits after each piece of a streamed answer. */
  chunkMs: Milliseconds.optional(),
  /** An HTTP error instead of an answer. */
  status: z.int().min(400).max(599).optional(),
  retryAfterSec: Count.optional(),
  /** Fails, hangs, is cut or broken only for so many attempts; the next one gets the rest of the step. */
  times: z.int().positive().optional(),
  /** The connection ends in the middle of the answer. */
  cut: z.boolean().default(false),
  /** Never answers. */
  hang: z.boolean().default(false),
})
export type Step = z.infer<typeof Step>

/** Step by step, what the model does after the prompt that holds the script. */
export const Script = z.array(Step).min(1)
export type Script = z.infer<typeof Script>

/** One script for each part that is played under the same name: the first whose words the prompt has. */
const Cast = z.strictObject({
  cast: z.array(z.strictObject({ when: z.string().min(1), steps: Script })).min(1),
})

/** Scripts that a prompt can name. */
export const Scenarios = z.record(z.string().regex(/^[A-Za-z0-9_-]{1,64}$/), z.union([Script, Cast]))
export type Scenarios = z.infer<typeof Scenarios>

/** A script, or why what looks like one is none. The key is the same for the same steps. */
export type FoundScript =
  | { readonly kind: 'script'; readonly steps: Script; readonly key: string }
  | { readonly kind: 'broken'; readonly why: string }

/** The last script of a text that is not inside another one; without any, the scenario that the model is named after. */
export function findScript(
  text: string,
  { scenarios, model = '' }: { readonly scenarios: Scenarios; readonly model?: string },
): FoundScript | undefined {
  const found = writtenScript(text, scenarios)
  if (found !== undefined || !Object.hasOwn(scenarios, model)) return found
  const played = fromScenario(model, scenarios, text)
  // Nobody in it answers to every prompt.
  return played.kind === 'script' ? played : undefined
}

function writtenScript(text: string, scenarios: Scenarios): FoundScript | undefined {
  // A prompt that a CLI has quoted has its line breaks as two characters, the second of them a letter.
  const marker = /(?<=^|[^\w$]|\\[nrt])SCRIPT(?:64:\s*([\w+/-]+)|=([\w-]+)|:\s*(?=\[))/g
  let found: FoundScript | undefined
  for (let match = marker.exec(text); match !== null; match = marker.exec(text)) {
    const [, encoded, name] = match
    if (encoded !== undefined) found = fromBase64(encoded)
    else if (name !== undefined) found = fromScenario(name, scenarios, text)
    else {
      const inline = fromInline(text, marker.lastIndex)
      found = inline.found
      // A nested script belongs to the subagent that gets it.
      marker.lastIndex = inline.end
    }
  }
  return found
}

function fromBase64(encoded: string): FoundScript {
  const text = Buffer.from(encoded, 'base64').toString('utf8')
  const array = jsonArrayAt(text.trim(), 0)
  return array === undefined
    ? broken('what follows SCRIPT64: is not a JSON array in base64')
    : checked(array.value)
}

function fromScenario(name: string, scenarios: Scenarios, text: string): FoundScript {
  const scenario = Object.hasOwn(scenarios, name) ? scenarios[name] : undefined
  if (Array.isArray(scenario)) return { kind: 'script', steps: scenario, key: name }
  if (scenario !== undefined) {
    const part = scenario.cast.findIndex(({ when }) => text.includes(when))
    const steps = scenario.cast[part]?.steps
    return steps
      ? { kind: 'script', steps, key: `${name}:${part}` }
      : broken(`nobody in the scenario ${name} answers to these words`)
  }
  const names = Object.keys(scenarios).join(', ')
  return broken(`there is no scenario ${name}; there are: ${names || 'none'}`)
}

const quotings = 3

function fromInline(text: string, start: number): { found: FoundScript; end: number } {
  const plain = jsonArrayAt(text, start)
  if (plain !== undefined) return { found: checked(plain.value), end: plain.end }
  let rest = text.slice(start)
  for (let level = 0; level < quotings; level++) {
    rest = unquote(rest)
    const array = jsonArrayAt(rest, 0)
    if (array !== undefined) return { found: checked(array.value), end: text.length }
  }
  return { found: broken('what follows SCRIPT: is not a JSON array'), end: start + 1 }
}

/** Takes back one level of quoting: some CLIs hand a prompt on as a JSON string. */
function unquote(text: string): string {
  return text.replace(/\\(?:u([0-9a-fA-F]{4})|(.))/gs, (_all, code?: string, char?: string) => {
    if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16))
    return char === 'n' ? '\n' : char === 't' ? '\t' : char === 'r' ? '\r' : (char ?? '')
  })
}

function checked(value: unknown): FoundScript {
  const parsed = Script.safeParse(value)
  if (parsed.success) return { kind: 'script', steps: parsed.data, key: keyOf(value) }
  const [issue] = parsed.error.issues
  const [index, ...path] = issue?.path ?? []
  const place = [typeof index === 'number' ? `step ${index + 1}` : 'the script', ...path.map(String)]
  return broken(`${place.join(', ')}: ${issue?.message ?? 'does not fit'}`)
}

const keyOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16)

const broken = (why: string): FoundScript => ({ kind: 'broken', why })

/** A JSON array that begins at a place in a text, and the place after it; undefined when there is none. */
function jsonArrayAt(text: string, start: number): { value: unknown; end: number } | undefined {
  const end = endOfArray(text, start)
  if (end === undefined) return undefined
  try {
    return { value: JSON.parse(text.slice(start, end)) as unknown, end }
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function endOfArray(text: string, start: number): number | undefined {
  if (text[start] !== '[') return undefined
  let depth = 0
  let isInString = false
  for (let at = start; at < text.length; at++) {
    const char = text[at]
    if (isInString) {
      if (char === '\\') at++
      else if (char === '"') isInString = false
    } else if (char === '"') isInString = true
    else if (char === '[' || char === '{') depth++
    else if (char === ']' || char === '}') {
      depth--
      if (depth === 0) return at + 1
    }
  }
  return undefined
}
