import * as z from 'zod'
import { Config } from '../config.ts'

/** One documented key: `<name>` stands for a name the user chooses, `[]` for each item of a list. */
export type ConfigKey = {
  readonly key: string
  readonly description: string
  readonly values: string
  readonly default: unknown
  readonly isSection: boolean
}

/** Lists every key that a configuration file may hold, in the order of the schema. */
export function configKeys(): ConfigKey[] {
  return [...keysOf(Config, '')]
}

/** Names the keys that are allowed beside each other at a path; nothing where names are free. */
export function keysAt(path: readonly PropertyKey[]): string[] {
  let schema: z.ZodType | undefined = bare(Config)
  for (const step of path) {
    if (schema instanceof z.ZodObject) schema = fieldsOf(schema)[String(step)]
    else if (schema instanceof z.ZodRecord) schema = schema.valueType as z.ZodType
    else if (schema instanceof z.ZodArray) schema = schema.element as z.ZodType
    else return []
    if (schema === undefined) return []
    schema = bare(schema)
  }
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
}

function* keysOf(schema: z.ZodType, prefix: string): Generator<ConfigKey> {
  const inner = bare(schema)
  if (inner instanceof z.ZodObject) {
    for (const [name, field] of Object.entries(fieldsOf(inner))) {
      const key = prefix === '' ? name : `${prefix}.${name}`
      yield describeKey(key, field)
      yield* keysOf(field, key)
    }
  }
  if (inner instanceof z.ZodRecord) yield* keysOf(inner.valueType as z.ZodType, `${prefix}.<name>`)
  if (inner instanceof z.ZodArray) yield* keysOf(inner.element as z.ZodType, `${prefix}[]`)
}

function describeKey(key: string, field: z.ZodType): ConfigKey {
  const inner = bare(field)
  const fallback = field.safeParse(undefined)
  return {
    key,
    description: field.description ?? '',
    values: valuesOf(inner),
    default: fallback.success ? fallback.data : undefined,
    isSection: inner instanceof z.ZodObject,
  }
}

function valuesOf(schema: z.ZodType): string {
  const inner = bare(schema)
  if (inner instanceof z.ZodEnum) return inner.options.join(' | ')
  if (inner instanceof z.ZodArray) return `list of ${valuesOf(inner.element as z.ZodType)}`
  if (inner instanceof z.ZodObject || inner instanceof z.ZodRecord) return 'map'
  if (inner instanceof z.ZodNumber) return inner.isInt ? 'whole number' : 'number'
  return inner.type
}

function bare(schema: z.ZodType): z.ZodType {
  let inner = schema
  while (inner instanceof z.ZodDefault || inner instanceof z.ZodPrefault || inner instanceof z.ZodOptional) {
    inner = inner.unwrap() as z.ZodType
  }
  return inner
}

function fieldsOf(schema: z.ZodObject): Record<string, z.ZodType> {
  return schema.shape as Record<string, z.ZodType>
}

type Rule = (value: unknown, current: unknown) => boolean

const always: Rule = () => true

const onlyDown: Rule = (value, current) => typeof current === 'number' && Number(value) <= current

const onlyFrom =
  (loosest: unknown): Rule =>
  (value, current) =>
    current === loosest || value === current

// Whatever is not listed needs trust, so a key added later is closed until someone decides about it.
const untrusted: readonly (readonly [RegExp, Rule])[] = [
  [/^claude\.(agent_configs|presets)\.[^.]+\.model$/, always],
  [/^child_agents\.mode$/, onlyFrom('auto')],
  [/^child_agents\.auto_complete\.require_parent_approval$/, onlyFrom(false)],
  [
    /^child_agents\.auto_complete\.(enabled|idle_timeout|detect_completion_phrases|completion_patterns)$/,
    always,
  ],
  // Not the webhook: it leads out of the machine.
  [/^child_agents\.(notifications\.notify_|progress\.)/, always],
  [/^sessions\.(default_working_dir_behavior|naming\..+)$/, always],
  [/^sessions\.isolation$/, onlyFrom('none')],
  [/^limits\./, onlyDown],
  // Not the models: a provider leads out of the machine, and its key with it.
  [/^runtime\.mode$/, onlyFrom('auto')],
  [/^runtime\.(max_iters|max_concurrent)$/, onlyDown],
]

/**
 * What a project may decide that is trusted: how work in it is done. What is not here is about the daemon, or leads out
 * of the machine, and is said by the operator's own file alone: its address, journal, vault and terminals, redaction,
 * models and their keys, webhooks, archives.
 */
const trusted =
  /^(claude|clis|limits)\.|^child_agents\.mode$|^sessions\.(default_working_dir_behavior|inherit_environment_vars|isolation|naming\..+)$|^runtime\.(max_iters|approvals|mcp_servers\..+)$/

/** What a project file may do with a key, given the value that holds without it. */
export function projectMaySet(key: string, value: unknown, current: unknown): 'always' | 'trusted' | 'never' {
  if (untrusted.some(([pattern, rule]) => pattern.test(key) && rule(value, current))) return 'always'
  return trusted.test(key) ? 'trusted' : 'never'
}
