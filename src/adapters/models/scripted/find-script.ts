import { createHash } from 'node:crypto'
import { jsonArrayAt } from './json-array-at.ts'
import { type Scenarios, Script } from './script.ts'

/** A script, or why what looks like one is none. The key is the same for the same steps. */
export type FoundScript =
  | { readonly kind: 'script'; readonly steps: Script; readonly key: string }
  | { readonly kind: 'broken'; readonly why: string }

/** The last script of a text that is not inside another one. */
export function findScript(text: string, scenarios: Scenarios): FoundScript | undefined {
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
    ? broken('what follows SCRIPT64: is no JSON array in base64')
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
  return { found: broken('what follows SCRIPT: is no JSON array'), end: start + 1 }
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
