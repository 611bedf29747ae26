import type { Config } from '../config.ts'

/** One value of a configuration under its dotted key. */
type ConfigValue = { readonly key: string; readonly value: unknown }

/** Lists every value under its dotted key, in the order of the schema; lists and empty maps are values. */
export function flattenConfig(config: Config): ConfigValue[] {
  return [...leavesOf(config)].map(({ path, value }) => ({ key: path.join('.'), value }))
}

/** Walks nested maps down to the values that replace each other when two files are merged. */
export function* leavesOf(value: unknown, path: readonly string[] = []): Generator<ConfigLeaf> {
  if (!isMap(value)) {
    if (value !== undefined) yield { path, value }
    return
  }
  const entries = Object.entries(value)
  if (entries.length === 0) yield { path, value }
  for (const [key, child] of entries) yield* leavesOf(child, [...path, key])
}

/** A value that is no map, or an empty map, and the keys that lead to it. */
type ConfigLeaf = { readonly path: readonly string[]; readonly value: unknown }

/** Tells a map from a list and from a plain value. */
export function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
