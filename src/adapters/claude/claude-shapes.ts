import * as z from 'zod'

/**
 * Fields of a program that changes weekly: one that is missing, null or of another kind reads as nothing,
 * so that it cannot hide the fields beside it.
 */
const text = z.string().min(1).optional().catch(undefined)
const number = z.number().optional().catch(undefined)
const flag = z.boolean().optional().catch(undefined)
const anything = z.unknown().optional()

/** A list whose entries that do not fit are left out. */
const listOf = <T extends z.ZodType>(entry: T) =>
  z
    .array(z.unknown())
    .catch([])
    .transform((entries) =>
      entries.flatMap((one): z.output<T>[] => {
        const read = entry.safeParse(one)
        return read.success ? [read.data] : []
      }),
    )

const record = z.record(z.string(), z.unknown()).optional().catch(undefined)

/** An object that may be missing. */
const objectOf = <T extends z.ZodRawShape>(shape: T) => z.looseObject(shape).optional().catch(undefined)

const BackgroundTask = z.looseObject({ id: text, type: text, status: text })

/** A permission that the CLI proposes to keep; only its kind is ours to know. */
export const Suggestion = z.looseObject({ type: z.string(), destination: text })

export type Suggestion = z.infer<typeof Suggestion>

/** What Claude Code sends to a hook: the common fields and those of the events that are read. */
export const HookPayload = z.looseObject({
  hook_event_name: z.string().min(1),
  session_id: text,
  transcript_path: text,
  cwd: text,
  prompt_id: text,
  agent_id: text,
  agent_type: text,
  source: text,
  model: text,
  reason: text,
  prompt: text,
  tool_name: text,
  tool_use_id: text,
  tool_input: anything,
  tool_response: anything,
  duration_ms: number,
  error: text,
  is_interrupt: flag,
  permission_suggestions: listOf(Suggestion),
  message: text,
  notification_type: text,
  last_assistant_message: text,
  background_tasks: listOf(BackgroundTask),
  agent_transcript_path: text,
  trigger: text,
  compact_summary: text,
})

export type HookPayload = z.infer<typeof HookPayload>

/** How much of one allowance is used. */
export const RateLimitWindow = z.looseObject({ used_percentage: number, resets_at: number })

/** What Claude Code gives to a status line. */
export const StatusPayload = z.looseObject({
  session_id: z.string().min(1),
  model: objectOf({ id: text }),
  cost: objectOf({ total_cost_usd: number }),
  context_window: objectOf({ used_percentage: number }),
  rate_limits: record,
})

/** A piece of a message; which fields it has depends on its type. */
export const Block = z.looseObject({
  type: z.string(),
  text,
  id: text,
  name: text,
  input: anything,
  tool_use_id: text,
  content: anything,
  is_error: flag,
})

export type Block = z.infer<typeof Block>

const Usage = objectOf({
  input_tokens: number,
  output_tokens: number,
  cache_read_input_tokens: number,
  cache_creation_input_tokens: number,
  output_tokens_details: objectOf({ thinking_tokens: number }),
})

export type Usage = z.infer<typeof Usage>

/** What one model was used for in a conversation. */
export const ModelUsage = z.looseObject({
  inputTokens: number,
  outputTokens: number,
  thinkingTokens: number,
  cacheReadInputTokens: number,
  cacheCreationInputTokens: number,
})

const Message = objectOf({
  id: text,
  model: text,
  stop_reason: text,
  usage: Usage,
  // A prompt is often a bare text.
  content: z.union([z.string(), listOf(Block)]),
})

const Quota = objectOf({ resetsAt: number })

/** What a tool answered, as far as it is about a subagent. */
const ToolResult = objectOf({
  status: text,
  agentId: text,
  agentType: text,
  description: text,
  content: listOf(Block),
})

/** One line of a conversation's file; the many types that are not read have only their type here. */
export const TranscriptLine = z.looseObject({
  type: z.string(),
  subtype: text,
  timestamp: text,
  isSidechain: flag,
  agentId: text,
  isMeta: flag,
  isCompactSummary: flag,
  isApiErrorMessage: flag,
  apiErrorStatus: number,
  error: text,
  apiErrorParams: objectOf({ rate_limit_info: Quota }),
  quotaLimits: Quota,
  promptId: text,
  origin: objectOf({ kind: text }),
  interruptedMessageId: text,
  toolUseResult: ToolResult,
  message: Message,
  sessionId: text,
  modelUsage: record,
  compactMetadata: objectOf({ trigger: text, preTokens: number, postTokens: number }),
  operation: text,
  content: anything,
  attachment: objectOf({ type: text, prompt: text, content: anything }),
})

export type TranscriptLine = z.infer<typeof TranscriptLine>

/** Whether a prompt is a note of the CLI to itself that something in the background has ended, and not of a person. */
export const isTaskNotification = (prompt: string): boolean =>
  prompt.trimStart().startsWith('<task-notification>')

/** What set a compaction off, where it is one of the two that are known. */
export const compactionTrigger = (word: string | undefined): 'auto' | 'manual' | undefined =>
  word === 'auto' || word === 'manual' ? word : undefined
