import * as z from 'zod'
import { Count, Millis } from '../../values.ts'

/** Which attempt of a plan-execute loop a v2 phase was. */
export const LoopInfo = z.looseObject({
  attempt_number: Count.optional(),
  max_attempts: Count.optional(),
  is_retry: z.boolean().optional(),
  previous_attempt_id: z.string().optional(),
})

/** A phase as version 2 recorded it; kept as it was, its fields all optional because writers differed. */
export const LegacyPhase = z
  .looseObject({
    phase_id: z.string().optional(),
    phase_type: z.string().optional(),
    status: z.string().optional(),
    started_at: z.string().optional(),
    ended_at: z.string().optional(),
    duration_ms: Millis.optional(),
    input: z.unknown().optional(),
    output: z.unknown().optional(),
    tool_call_ids: z.array(z.string()).optional(),
    context_used: z.array(z.unknown()).optional(),
    decisions: z.array(z.unknown()).optional(),
    loop_info: LoopInfo.optional(),
    exploration_record: z.unknown().optional(),
  })
  .meta({ id: 'LegacyPhase' })
export type LegacyPhase = z.infer<typeof LegacyPhase>

/** How the loops of a v2 session went. */
export const LoopSummary = z.looseObject({
  plan_execute_loops: Count.optional(),
  loop_resolved: z.boolean().optional(),
  loop_phase_ids: z.array(z.string()).optional(),
})
