import * as z from 'zod'
import { anything, flag, listOf, number, objectOf, text } from './loose.ts'

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
  compactMetadata: objectOf({ trigger: text, preTokens: number, postTokens: number }),
  operation: text,
  content: anything,
  attachment: objectOf({ type: text, prompt: text, content: anything }),
})
export type TranscriptLine = z.infer<typeof TranscriptLine>
