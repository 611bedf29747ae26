import * as z from 'zod'
import { Count, JsonObject, Millis, ToolCategory } from '../values.ts'

/** A time as a session file writes it: ISO-8601 with a zone, any precision. */
export const IsoTime = z.iso.datetime({ offset: true })
/** A name by which one record of a session file points at another. */
export const FileId = z.string().min(1)
export const Confidence = z.enum(['high', 'medium', 'low'])
/** The status of a session or sub-session; the format has no other words. */
export const SessionStatus = z.enum(['success', 'failed', 'in_progress'])
export type SessionStatus = z.infer<typeof SessionStatus>

/** What a delegating call says of the agent it started. */
export const SubagentInfo = z
  .strictObject({
    subagent_type: z.string(),
    sub_session_id: FileId.optional(),
    tool_uses: Count.optional(),
    tokens_used: Count.optional(),
    tools_breakdown: z.array(z.strictObject({ tool_name: z.string(), count: Count })).optional(),
    /** A link the reader had to replace, as the file had it. */
    original_sub_session_id: z.string().optional(),
  })
  .meta({ id: 'SubagentInfo' })
export type SubagentInfo = z.infer<typeof SubagentInfo>

/** What kinds of knowledge a call can add to the context. */
export const ContributionType = z.enum(['file_content', 'search_result', 'command_output', 'knowledge'])

/** What a call added to the context of its agent. */
export const ContextContribution = z
  .strictObject({
    type: ContributionType,
    summary: z.string(),
    full_content: z.string().optional(),
    original_type: z.unknown().optional(),
  })
  .meta({ id: 'ContextContribution' })

/** What went into a call. */
export const CallInput = z.strictObject({
  params: JsonObject,
  description: z.string().optional(),
  raw_command: z.string().optional(),
})

/** What came out of a call. */
export const CallOutput = z.strictObject({
  status: z.enum(['success', 'failed']),
  result: JsonObject.optional(),
  error: z.string().optional(),
  truncated: z.boolean().optional(),
})

/** One tool call: the atom of a session file. */
export const ToolCall = z
  .strictObject({
    call_id: FileId,
    tool_name: z.string().min(1),
    tool_category: ToolCategory,
    started_at: IsoTime,
    ended_at: IsoTime,
    duration_ms: Millis,
    input: CallInput,
    output: CallOutput,
    context_contribution: ContextContribution.optional(),
    subagent_info: SubagentInfo.optional(),
    /** The name the tool has in its own program, where the format asks for `Task`. */
    original_tool_name: z.string().optional(),
    /** The call had no end when the file was written; its ended_at is the time of writing. */
    open: z.boolean().optional(),
    /** When the call itself returned, where its sub-agent worked on in the background. */
    original_ended_at: z.unknown().optional(),
  })
  .meta({ id: 'ToolCall' })
export type ToolCall = z.infer<typeof ToolCall>

export const PhaseType = z.enum([
  'understand',
  'explore',
  'plan',
  'execute',
  'verify',
  'mixed',
  'unclassified',
])
export type PhaseType = z.infer<typeof PhaseType>

/** A source an agent worked from. */
export const ContextReference = z
  .strictObject({
    type: z.enum([
      'claude_md',
      'rule',
      'standard',
      'skill',
      'spec',
      'file',
      'user_message',
      'tool_result',
      'capability',
    ]),
    source: z.string(),
    relevance: Confidence,
    summary: z.string().optional(),
    quoted_content: z.string().optional(),
    usage_mode: z.enum(['read', 'modified', 'read_then_modified']).optional(),
  })
  .meta({ id: 'ContextReference' })

/** A choice an agent made, with what it left. */
export const Decision = z
  .strictObject({
    decision_id: FileId,
    type: z.enum(['tool_selection', 'approach', 'error_handling', 'skip', 'retry']),
    description: z.string(),
    reasoning: z.string().optional(),
    alternatives_considered: z.array(z.string()).optional(),
  })
  .meta({ id: 'Decision' })

/** A phase laid over a range of calls afterwards; ranges may overlap and may span sub-sessions. */
export const PhaseAnnotation = z
  .strictObject({
    annotation_id: FileId,
    phase_type: PhaseType,
    tool_call_range: z.strictObject({ start_call_id: FileId, end_call_id: FileId }),
    annotated_by: z.enum(['agent', 'human', 'auto']),
    annotated_at: IsoTime,
    confidence: Confidence,
    description: z.string().optional(),
    decisions: z.array(Decision).optional(),
    context_used: z.array(ContextReference).optional(),
  })
  .meta({ id: 'PhaseAnnotation' })
export type PhaseAnnotation = z.infer<typeof PhaseAnnotation>

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
