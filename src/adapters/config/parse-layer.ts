import { parseDocument } from 'yaml'
import { configKeys, keysAt } from '../../contract/config/config-keys.ts'
import { isMap, leavesOf } from '../../contract/config/flatten-config.ts'
import { schemaProblems } from '../../contract/config/schema-problems.ts'
import { Config, defaultConfig } from '../../contract/config.ts'
import { contentsOf, offsetOf, type Position, positionAt } from '../../contract/yaml-position.ts'

/** One value that a file sets, and the line of its key. */
export type LayerValue = { readonly key: string; readonly value: unknown; readonly line: number }

/** Something in a file that keeps it from being used; the key is empty when the YAML itself is broken. */
type LayerProblem = Position & { readonly key: string; readonly message: string }

/** What one configuration file says, and everything that is wrong with it. */
export type Layer = { readonly values: readonly LayerValue[]; readonly problems: readonly LayerProblem[] }

/** Takes the text of one configuration file apart. */
export function parseLayer(text: string): Layer {
  const { data, root, problems } = contentsOf(parseDocument(text, { prettyErrors: false, logLevel: 'error' }))
  if (problems.length > 0) {
    const broken = problems.map((p) => ({ ...positionAt(text, p.offset), key: '', message: p.message }))
    return { values: [], problems: broken }
  }
  const written = withoutEmptySections(data, defaultConfig)
  const values = valuesOf(written, (path) => positionAt(text, offsetOf(root, path, 'key')))
  const found = [...misfits(written), ...values.problems]
  return {
    values: values.values,
    problems: found.map(({ path, part, message }) => ({
      ...positionAt(text, offsetOf(root, path, part)),
      key: path.map(String).join('.'),
      message,
    })),
  }
}

type Misfit = ReturnType<typeof schemaProblems>[number]

function misfits(written: unknown): Misfit[] {
  const parsed = Config.safeParse(written, { reportInput: true })
  return parsed.success ? [] : schemaProblems(parsed.error.issues, knownKeys)
}

const knownKeys = {
  beside: keysAt,
  all: () =>
    configKeys()
      .filter(({ key, isSection }) => !isSection && !/[<[]/.test(key))
      .map(({ key }) => key),
}

function valuesOf(written: unknown, at: (path: readonly string[]) => Position) {
  const values: LayerValue[] = []
  const problems: Misfit[] = []
  const seen = new Set<string>()
  for (const { path, value } of leavesOf(written)) {
    const key = canonicalKey(path)
    if (seen.has(key)) {
      const message = 'set twice; names of agent types that differ only in case are the same'
      problems.push({ path, part: 'key', message })
    }
    // Zod passes over this one name in a map of free names instead of refusing it.
    const polluted = path.indexOf('__proto__')
    if (polluted > 0)
      problems.push({ path: path.slice(0, polluted + 1), part: 'key', message: 'unknown key' })
    seen.add(key)
    if (!isMap(value)) values.push({ key, value, line: at(path).line })
  }
  return { values, problems }
}

function canonicalKey(path: readonly string[]): string {
  const isAgentType = path[0] === 'claude' && path[1] === 'agent_configs'
  return path.map((step, index) => (isAgentType && index === 2 ? step.toLowerCase() : step)).join('.')
}

// A heading whose keys are all commented out reads as null and means the same as no heading.
function withoutEmptySections(data: unknown, defaults: unknown): unknown {
  if (!isMap(data) || !isMap(defaults)) return data
  const kept = Object.entries(data).filter(([key, value]) => value !== null || !isMap(ownOf(defaults, key)))
  return Object.fromEntries(
    kept.map(([key, value]) => [key, withoutEmptySections(value, ownOf(defaults, key))]),
  )
}

function ownOf(map: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(map, key) ? map[key] : undefined
}
