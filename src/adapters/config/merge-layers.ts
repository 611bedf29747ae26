import { flattenConfig, isMap } from '../../contract/config/flatten-config.ts'
import { mapLegacyArgs } from '../../contract/config/legacy-args.ts'
import { Config, type ConfigOrigin, defaultConfig } from '../../contract/config.ts'
import type { LayerValue } from './parse-layer.ts'

/** The values that one file may decide. */
export type NamedLayer = { readonly file: string; readonly values: readonly LayerValue[] }

/** A configuration put together from files, and the remarks it deserves. */
export type MergedConfig = {
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
