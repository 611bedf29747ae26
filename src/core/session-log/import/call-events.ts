import type { ToolCall } from '../../../contract/formats/std-001/tool-call.ts'
import type { SpanId } from '../../../contract/ids.ts'
import type { ImportIds } from '../derived-ids.ts'
import { compact } from '../json/value.ts'
import { toolCallFrom } from '../rebuild/tool-call.ts'
import { draft, line, millis, type Run, rawFor, recorded, type Timed } from './drafting.ts'

export type CallPlace = { readonly run: Run; readonly index: number; readonly notBefore: number }

/** The span of a call, by its place in the file: call ids may repeat between owners. */
export const callSpan = (ids: ImportIds, runKey: string, index: number): SpanId =>
  ids.span(`${runKey}/call/${index}`)

/** The two events of a call. */
export function callEvents(call: ToolCall, { run, index, notBefore }: CallPlace, ids: ImportIds): Timed[] {
  const key = `${run.key}/call/${index}`
  const names = { callId: line(call.call_id), tool: line(call.tool_name) }
  const start = {
    ...names,
    ...compact({
      category: call.tool_category,
      params: call.input.params,
      description: call.input.description,
      rawCommand: call.input.raw_command,
    }),
  }
  const end = {
    ...names,
    ...compact({
      durationMs: call.duration_ms,
      result: call.output.result,
      error: call.output.error,
      truncated: call.output.truncated,
      contextContribution: call.context_contribution,
      subagent: call.subagent_info && subagent(call.subagent_info),
    }),
  }
  const ended =
    call.output.status === 'failed'
      ? recorded('tool.call.failed', call.ended_at, end)
      : recorded('tool.call.completed', call.ended_at, end)
  const bare = recorded('tool.call.started', call.started_at, start)
  const raw = rawFor(call, toolCallFrom({ started: bare, ended }, bare.timestamp), { index })
  const started = recorded('tool.call.started', call.started_at, { ...start, raw })
  const spanId = callSpan(ids, run.key, index)
  const startAt = Math.max(notBefore, millis(call.started_at))
  return [
    { draft: draft(started, { run, spanId, key: `${key}/start` }, ids), sortAt: startAt },
    {
      draft: draft(ended, { run, spanId, key: `${key}/end` }, ids),
      sortAt: Math.max(startAt, millis(call.ended_at)),
    },
  ]
}

function subagent(info: NonNullable<ToolCall['subagent_info']>) {
  return {
    subagentType: line(info.subagent_type),
    ...compact({
      subSessionId: info.sub_session_id === undefined ? undefined : line(info.sub_session_id),
      toolUses: info.tool_uses,
      tokensUsed: info.tokens_used,
      toolsBreakdown: info.tools_breakdown?.map(({ tool_name, count }) => ({
        toolName: line(tool_name),
        count,
      })),
    }),
  }
}
