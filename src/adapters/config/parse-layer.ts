import { parseDocument } from 'yaml'
import { configKeys, keysAt } from '../../contract/config/config-keys.ts'
import { flattenConfig, isMap, leavesOf } from '../../contract/config/flatten-config.ts'
import { mapLegacyArgs } from '../../contract/config/legacy-args.ts'
import { schemaProblems } from '../../contract/config/schema-problems.ts'
import { Config, type ConfigOrigin, defaultConfig } from '../../contract/config.ts'
import { contentsOf, offsetOf, type Position, positionAt } from '../../contract/yaml-position.ts'

/** One value that a file sets, and the line of its key. */
type LayerValue = { readonly key: string; readonly value: unknown; readonly line: number }

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

/** The values that one file may decide. */
export type NamedLayer = { readonly file: string; readonly values: readonly LayerValue[] }

/** A configuration put together from files, and the remarks it deserves. */
type MergedConfig = {
  readonly config: Config
  readonly origins: Readonly<Record<string, ConfigOrigin>>
  readonly warnings: readonly string[]
}

/** Lays files over the defaults, the last one on top: maps are merged key by key, lists are replaced whole. */
export function mergeLayers(layers: readonly NamedLayer[]): MergedConfig {
  const merged = new Map<string, Entry>()
  for (const { key, value } of flattenConfig(defaultConfig)) merged.set(key, { value, origin: 'default' })
  for (const { file, values } of layers) {
    for (const { key, value, line } of values) merged.set(key, { value, origin: { file, line } })
  }
  const warnings = [...replaceLegacyArgs(merged), ...droppedSecrets(merged)]
  const config = Config.parse(nest(merged))
  const origins = flattenConfig(config).map(({ key }) => [key, merged.get(key)?.origin ?? 'default'] as const)
  return { config, origins: Object.fromEntries(origins), warnings }
}

type Entry = { value: unknown; readonly origin: ConfigOrigin }

function replaceLegacyArgs(merged: Map<string, Entry>): string[] {
  return [...merged].flatMap(([key, entry]) => {
    if (!/^claude\.(default_args|(agent_configs|presets)\.[^.]+\.args)$/.test(key)) return []
    const cli = key.endsWith('.args') ? merged.get(`${key.slice(0, -'.args'.length)}.cli`)?.value : undefined
    // Another program may well have a flag of the same name.
    if (cli !== undefined && cli !== 'claude') return []
    const mapped = mapLegacyArgs(entry.value as readonly string[])
    entry.value = mapped.args
    return mapped.warnings.map((warning) => `${placeOf(entry.origin)} ${key}: ${warning}`)
  })
}

function droppedSecrets(merged: Map<string, Entry>): string[] {
  const key = 'redaction.known_env'
  const entry = merged.get(key)
  if (entry === undefined || entry.origin === 'default') return []
  const kept = entry.value as readonly string[]
  const dropped = defaultConfig.redaction.known_env.filter((glob) => !kept.includes(glob))
  if (dropped.length === 0) return []
  return [
    `${placeOf(entry.origin)} ${key}: the list replaces the default one, so ${dropped.join(', ')} no longer count as secret; add them if you only meant to add names`,
  ]
}

function placeOf(origin: ConfigOrigin): string {
  return origin === 'default' ? 'default' : `${origin.file}:${origin.line}`
}

function nest(merged: ReadonlyMap<string, Entry>): Record<string, unknown> {
  const root: Record<string, unknown> = {}
  for (const [key, { value }] of merged) {
    const path = key.split('.')
    const last = path.pop() ?? key
    let map = root
    for (const step of path) {
      // An agent type may be called "constructor"; only own keys count.
      if (!Object.hasOwn(map, step)) map[step] = {}
      map = map[step] as Record<string, unknown>
    }
    map[last] = isMap(value) ? {} : value
  }
  return root
}
