import type { ImportIds } from '../contract/derived-ids.ts'
import type { SpanId } from '../contract/ids.ts'
import {
  ContextContribution,
  type SubagentInfo,
  type ToolCall,
} from '../contract/session-file/agent-session.ts'
import { delegationTools } from '../contract/session-file/multi-agent-session.ts'
import { toolCategory } from '../core/delegation/tool-category.ts'
import { millisOf } from '../core/json/iso-time.ts'
import { compact, isRecord } from '../core/json/json-value.ts'
import {
  draft,
  line,
  optionalLine,
  optionalTextOf,
  type Recorded,
  type Run,
  recorded,
  type Timed,
  textOf,
  withRaw,
} from './event-records.ts'
import { loosen } from './shape.ts'

export type CallStart = Recorded<'tool.call.started'>
export type CallEnd = Recorded<'tool.call.completed' | 'tool.call.failed' | 'tool.call.denied'>
/** The two ends of a call; either may be missing from a journal. */
export type CallEvents = { readonly started?: CallStart | undefined; readonly ended?: CallEnd | undefined }

export type CallPlace = { readonly run: Run; readonly index: number; readonly notBefore: number }

/** The two events of a call of a file. */
export function callEvents(call: ToolCall, { run, index, notBefore }: CallPlace, ids: ImportIds): Timed[] {
  const key = `${run.key}/call/${index}`
  const { input, output } = call
  const names = { callId: line(call.call_id), tool: line(call.tool_name) }
  const end = {
    ...names,
    ...compact({
      durationMs: call.duration_ms,
      result: output.result,
      error: output.error,
      truncated: output.truncated,
      contextContribution: call.context_contribution,
      subagent: call.subagent_info && subagent(call.subagent_info),
    }),
  }
  const type = output.status === 'failed' ? 'tool.call.failed' : 'tool.call.completed'
  const ended = recorded<'tool.call.failed' | 'tool.call.completed'>(type, call.ended_at, end)
  const start = {
    ...names,
    ...compact({
      category: call.tool_category,
      params: input.params,
      description: input.description,
      rawCommand: input.raw_command,
    }),
  }
  const started = withRaw(recorded('tool.call.started', call.started_at, start), {
    record: call,
    rebuild: (event) => toolCallFrom({ started: event, ended }, event.timestamp),
    place: { index },
  })
  const spanId = callSpan(ids, run.key, index)
  const startAt = Math.max(notBefore, millisOf(call.started_at) || 0)
  const endAt = Math.max(startAt, millisOf(call.ended_at) || 0)
  return [
    { draft: draft(started, { run, spanId, key: `${key}/start` }, ids), sortAt: startAt },
    { draft: draft(ended, { run, spanId, key: `${key}/end` }, ids), sortAt: endAt },
  ]
}

/** The span of a call, by its place in the file: call ids may repeat between owners. */
export const callSpan = (ids: ImportIds, runKey: string, index: number): SpanId =>
  ids.span(`${runKey}/call/${index}`)

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
  const contribution = loosen(ContextContribution).safeParse(closing?.contextContribution)
  return compact({
    call_id: head?.callId || 'unknown',
    tool_name: isDelegation ? 'Task' : tool,
    tool_category: started?.payload.category ?? toolCategory(tool, params),
    started_at: start,
    ended_at,
    duration_ms: closing?.durationMs ?? millisOf(ended_at) - millisOf(start),
    input: compact({
      params,
      description: optionalTextOf(started?.payload.description),
      raw_command: optionalTextOf(started?.payload.rawCommand),
    }),
    output: outputOf(ended),
    context_contribution: contribution.success
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
  return compact({
    status: isFailed ? ('failed' as const) : ('success' as const),
    result: resultOf(result),
    error:
      error === undefined || error === null ? (isFailed ? ended.payload.reason : undefined) : textOf(error),
    truncated,
  })
}

function resultOf(result: unknown): Record<string, unknown> | undefined {
  if (result === undefined || result === null) return undefined
  if (isRecord(result)) return result
  return typeof result === 'string' ? { display: result } : { value: result }
}

type Subagent = NonNullable<Recorded<'tool.call.completed'>['payload']['subagent']>

const subagent = (info: SubagentInfo): Subagent => ({
  subagentType: line(info.subagent_type),
  ...compact({
    subSessionId: optionalLine(info.sub_session_id),
    toolUses: info.tool_uses,
    tokensUsed: info.tokens_used,
    toolsBreakdown: info.tools_breakdown?.map((each) => ({
      toolName: line(each.tool_name),
      count: each.count,
    })),
  }),
})

const subagentInfo = (info: Subagent): SubagentInfo =>
  compact({
    subagent_type: info.subagentType,
    sub_session_id: info.subSessionId || undefined,
    tool_uses: info.toolUses,
    tokens_used: info.tokensUsed,
    tools_breakdown: info.toolsBreakdown?.map(({ toolName, count }) => ({ tool_name: toolName, count })),
  })
