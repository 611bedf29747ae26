import * as z from 'zod'
import { Count, Tokens } from '../values.ts'

/** An answer of an agent of our own, and what it took. */
const Answer = z.strictObject({
  session_id: z.string(),
  run_id: z.string().nullable(),
  agent: z.string(),
  status: z.enum(['completed', 'failed', 'cancelled', 'timeout']),
  /** Its last words; the reason when there are none. */
  text: z.string(),
  /** The packet that it was finished with, if it was. */
  output: z.unknown(),
  usage: Tokens.nullable(),
  tools: z.array(
    z.strictObject({
      agent: z.string(),
      tool: z.string(),
      target: z.string().nullable(),
      status: z.enum(['running', 'completed', 'failed', 'denied']),
      duration_ms: z.number().nullable(),
      reason: z.string().nullable(),
    }),
  ),
  duration_ms: Count,
})
export type Answer = z.infer<typeof Answer>

/** What the commands that speak with our own agents print with `--json`. */
export const talkOutputs = {
  ask: Answer,
  /** One for each line of standard input. */
  chat: Answer,
} as const
