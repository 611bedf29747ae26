import * as z from 'zod'
import { anything, flag, listOf, number, objectOf, record, text } from './loose.ts'

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
