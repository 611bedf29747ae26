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
