import * as z from 'zod'
import { sha256Hex } from './sha256.ts'
import { Count, Line } from './values.ts'

/** What a script says of itself before it runs; a person approves it by this. */
export const ScriptMeta = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'letters, digits, - and _, at most 64'),
  description: z.string().min(1).max(2000),
  phases: z.array(z.string().min(1).max(100)).max(50),
  tools: z.array(Line).max(100).optional(),
  /** Globs that its agents may change; without them they change nothing. */
  writes: z.array(z.string().min(1).max(1000)).max(100).optional(),
  estimate: z.strictObject({ agents: Count.optional(), tokens: Count.optional() }).optional(),
})
export type ScriptMeta = z.infer<typeof ScriptMeta>

/** A script with all that it imports, by name; the run keeps it, so a file that changes does not change the run. */
export const ScriptSource = z.strictObject({
  main: Line,
  files: z.record(Line, z.string()),
})
export type ScriptSource = z.infer<typeof ScriptSource>

/** What a script is known by: the same for the same text of all its files. */
export const scriptHash = ({ main, files }: ScriptSource): string =>
  sha256Hex(JSON.stringify([main, Object.entries(files).toSorted(([a], [b]) => (a < b ? -1 : 1))]))

const JsonSchema = z.record(z.string(), z.unknown())
const options = {
  agent: Line.optional(),
  cli: Line.optional(),
  model: Line.optional(),
}

/** What an agent of a script may be given besides its task. */
export const AgentOptions = z.strictObject({
  ...options,
  schema: JsonSchema.optional(),
  scope: z.array(z.string().min(1).max(1000)).max(100).optional(),
  name: z
    .string()
    .regex(/^[\w. -]{1,64}$/)
    .optional(),
  timeoutMs: z.number().positive().optional(),
})

const call = { path: z.string().min(1).max(2000), line: z.string().max(200).optional() }
const mostText = 400_000

/** One thing that a script asks for; its path finds it again after a crash. */
export const ScriptCall = z.discriminatedUnion('kind', [
  z.strictObject({
    ...call,
    kind: z.literal('agent'),
    task: z.string().min(1).max(mostText),
    options: AgentOptions,
  }),
  z.strictObject({
    ...call,
    kind: z.literal('verify'),
    claim: z.strictObject({
      id: z.string().min(1).max(200),
      text: z.string().min(1).max(mostText),
      evidence: z.unknown().optional(),
      by: Line.optional(),
    }),
    options: z.strictObject(options),
  }),
  z.strictObject({
    ...call,
    kind: z.literal('approve'),
    question: z.string().min(1).max(mostText),
    options: z.array(z.string().min(1).max(200)).max(20).optional(),
  }),
  z.strictObject({ ...call, kind: z.literal('checkpoint'), state: z.unknown() }),
  z.strictObject({
    ...call,
    kind: z.literal('phase'),
    name: Line,
    inputCount: Count.optional(),
    /** It ends with the function that it was given; else the next one ends it. */
    isBlock: z.boolean(),
  }),
  z.strictObject({
    ...call,
    kind: z.literal('phase-end'),
    outputCount: Count,
    error: z.string().max(mostText).optional(),
  }),
  z.strictObject({ ...call, kind: z.literal('log'), text: z.string().max(mostText) }),
])
export type ScriptCall = z.infer<typeof ScriptCall>

/** How much a run of a script may use up. */
export const ScriptLimits = z.strictObject({
  /** Agents that work at one time. */
  concurrency: z.int().positive(),
  agents: z.int().positive(),
  tokens: z.int().positive().optional(),
  usd: z.number().positive().optional(),
  minutes: z.number().positive().optional(),
})
export type ScriptLimits = z.infer<typeof ScriptLimits>
