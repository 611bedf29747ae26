import * as z from 'zod'
import { Count, Millis } from '../../values.ts'
import { LegacyPhase, LoopSummary } from './legacy-phase.ts'
import { FileId, IsoTime, SessionStatus } from './parts.ts'
import { PhaseAnnotation } from './phase-annotation.ts'
import { ToolCall } from './tool-call.ts'

/** What a session did, in figures. */
export const SessionSummary = z
  .strictObject({
    total_duration_ms: Millis,
    tool_calls_count: Count,
    files_created: z.array(z.string()),
    files_modified: z.array(z.string()),
    errors_encountered: Count.optional(),
    /** The summary in words, where a file had words instead of figures. */
    text: z.string().optional(),
  })
  .meta({ id: 'SessionSummary' })
export type SessionSummary = z.infer<typeof SessionSummary>

/** The session of one agent: the base format, version 3. */
export const AgentSession = z
  .strictObject({
    session_id: FileId,
    task_title: z.string(),
    task_description: z.string().optional(),
    user_prompt: z.string(),
    created_at: IsoTime,
    completed_at: IsoTime.optional(),
    updated_at: IsoTime.optional(),
    status: SessionStatus,
    /** How it ended in our own words, where the format's three do not say it. */
    termination_reason: z.string().optional(),
    original_status: z.unknown().optional(),
    agent: z.strictObject({ model_id: z.string(), capability_snapshot: z.string().optional() }),
    tool_calls: z.array(ToolCall),
    phase_annotations: z.array(PhaseAnnotation).optional(),
    phases: z.array(LegacyPhase).optional(),
    loop_summary: LoopSummary.optional(),
    summary: SessionSummary,
  })
  .meta({ id: 'AgentSession' })
export type AgentSession = z.infer<typeof AgentSession>
