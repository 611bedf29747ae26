import * as z from 'zod'
import { Count, JsonObject, Millis, ToolCategory } from '../../values.ts'
import { FileId, IsoTime } from './parts.ts'

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
