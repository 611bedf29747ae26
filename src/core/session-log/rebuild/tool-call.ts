import {
  ContextContribution,
  type SubagentInfo,
  type ToolCall,
} from '../../../contract/formats/std-001/tool-call.ts'
import { delegationTools } from '../../../contract/formats/std-008/delegation.ts'
import { loosen } from '../../../contract/formats/std-008/loosen.ts'
import { millisOf } from '../json/time.ts'
import { compact, isRecord } from '../json/value.ts'
import { toolCategory } from '../tool-category.ts'
import { type Recorded, textOf } from './recorded.ts'

export type CallStart = Recorded<'tool.call.started'>
export type CallEnd = Recorded<'tool.call.completed' | 'tool.call.failed' | 'tool.call.denied'>
/** The two ends of a call; either may be missing from a journal. */
export type CallEvents = { readonly started?: CallStart | undefined; readonly ended?: CallEnd | undefined }

/** A call as a file has it. One without an end is open: it lasts until `now`, and has not succeeded. */
export function toolCallFrom({ started, ended }: CallEvents, now: string): ToolCall {
  const start = started?.timestamp ?? ended?.timestamp ?? now
  const end = ended?.timestamp ?? now
  const ended_at = millisOf(end) < millisOf(start) ? start : end
  const head = started?.payload ?? ended?.payload
  const tool = head?.tool || 'unknown'
  const params = started?.payload.params ?? {}
  const isDelegation = delegationTools.has(tool)
  const closing = ended && ended.type !== 'tool.call.denied' ? ended.payload : undefined
  const isContribution = loosen(ContextContribution).safeParse(closing?.contextContribution).success
  return compact({
    call_id: head?.callId || 'unknown',
    tool_name: isDelegation ? 'Task' : tool,
    tool_category: started?.payload.category ?? toolCategory(tool, params),
    started_at: start,
    ended_at,
    duration_ms: closing?.durationMs ?? millisOf(ended_at) - millisOf(start),
    input: compact({
      params,
      description: optionalText(started?.payload.description),
      raw_command: optionalText(started?.payload.rawCommand),
    }),
    output: outputOf(ended),
    context_contribution: isContribution
      ? (closing?.contextContribution as NonNullable<ToolCall['context_contribution']>)
      : undefined,
    subagent_info: closing?.subagent ? subagentInfo(closing.subagent) : undefined,
    original_tool_name: isDelegation && tool !== 'Task' ? tool : undefined,
    open: ended ? undefined : true,
  })
}

/** What a call without an end has to show: the format has no word for it, and it must not count as a success. */
export const openOutput: Readonly<ToolCall['output']> = {
  status: 'failed',
  error: 'the call had no end when this file was written',
}

function outputOf(ended: CallEnd | undefined): ToolCall['output'] {
  if (!ended) return { ...openOutput }
  if (ended.type === 'tool.call.denied')
    return { status: 'failed', error: `denied (${ended.payload.gate}): ${textOf(ended.payload.reason)}` }
  const { result, error, truncated } = ended.payload
  const isFailed = ended.type === 'tool.call.failed'
  const reason = ended.type === 'tool.call.failed' ? ended.payload.reason : undefined
  return compact({
    status: isFailed ? ('failed' as const) : ('success' as const),
    result: resultOf(result),
    error: error === undefined || error === null ? reason : textOf(error),
    truncated,
  })
}

function resultOf(result: unknown): Record<string, unknown> | undefined {
  if (result === undefined || result === null) return undefined
  if (isRecord(result)) return result
  return typeof result === 'string' ? { display: result } : { value: result }
}

type Subagent = NonNullable<Recorded<'tool.call.completed'>['payload']['subagent']>

function subagentInfo(subagent: Subagent): SubagentInfo {
  return compact({
    subagent_type: subagent.subagentType,
    sub_session_id: subagent.subSessionId || undefined,
    tool_uses: subagent.toolUses,
    tokens_used: subagent.tokensUsed,
    tools_breakdown: subagent.toolsBreakdown?.map(({ toolName, count }) => ({ tool_name: toolName, count })),
  })
}

const optionalText = (body: unknown): string | undefined => (body === undefined ? undefined : textOf(body))
