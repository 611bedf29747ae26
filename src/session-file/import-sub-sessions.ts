import type { ImportIds } from '../contract/derived-ids.ts'
import type { SpanId } from '../contract/ids.ts'
import type { ToolCall } from '../contract/session-file/agent-session.ts'
import type { MultiAgentSession, SubAgentSession } from '../contract/session-file/multi-agent-session.ts'
import { compact } from '../core/json/json-value.ts'
import { draft, line, millis, type Run, rawFor, recorded, type Timed } from './drafting.ts'
import { type EndEvent, subSessionFrom, toolCallFrom } from './records-from-events.ts'
import { indexSession } from './session-walk.ts'

/** A run and the stretch of the sorted events it lies in. */
export type RunSpan = { readonly run: Run; readonly from: number; readonly to: number }

/** The events of every sub-session, and the last run of each agent. */
export function subSessionEvents(
  session: MultiAgentSession,
  main: Run,
  ids: ImportIds,
): { runs: Map<string, RunSpan>; events: Timed[] } {
  const index = indexSession(session)
  const runs = subRuns(session, main, ids)
  const positions = new Map(session.sub_sessions.map((sub, i) => [sub, i]))
  const byAgent = new Map<string, RunSpan>()
  const starts = new Map<SubAgentSession, number>()
  const events: Timed[][] = []
  // A child never sorts before its parent, whatever the clocks of the file say; parents are looked up, not walked,
  // because a file may chain a hundred thousand of them.
  for (const sub of parentsFirst(session)) {
    const parent = index.byId.get(sub.parent_session_id)?.sub
    const floor = parent ? (starts.get(parent) ?? 0) : millis(session.created_at)
    const startAt = Math.max(floor, millis(sub.started_at), triggerStart(sub, index))
    starts.set(sub, startAt)
    const run = runs.get(sub) as Run
    const own = eventsOf({ sub, run, index: positions.get(sub) ?? 0, startAt }, ids)
    const last = own.reduce((latest, { sortAt }) => Math.max(latest, sortAt), startAt)
    byAgent.set(sub.agent.agent_id, { run, from: startAt, to: last })
    events.push(own)
  }
  return { runs: byAgent, events: events.flat() }
}

type Source = {
  readonly sub: SubAgentSession
  readonly run: Run
  readonly index: number
  readonly startAt: number
}

function eventsOf({ sub, run, index, startAt }: Source, ids: ImportIds): Timed[] {
  const calls = sub.tool_calls.flatMap((call, n) =>
    callEvents(call, { run, index: n, notBefore: startAt }, ids),
  )
  const lastCall = calls.reduce((latest, { sortAt }) => Math.max(latest, sortAt), startAt)
  const ended = endOf(sub)
  const payload = spawnPayload(sub)
  const bare = recorded('agent.spawned', sub.started_at, payload)
  const original = { ...sub, tool_calls: [] }
  const raw = rawFor(original, subSessionFrom(bare, ended), { index })
  const spawned = recorded('agent.spawned', sub.started_at, { ...payload, raw })
  const start = { draft: draft(spawned, { run, key: `${run.key}/spawned` }, ids), sortAt: startAt }
  if (!ended) return [start, ...calls]
  const endAt = Math.max(lastCall, sub.completed_at === undefined ? lastCall : millis(sub.completed_at))
  return [start, ...calls, { draft: draft(ended, { run, key: `${run.key}/ended` }, ids), sortAt: endAt }]
}

function spawnPayload(sub: SubAgentSession) {
  return {
    agentId: line(sub.agent.agent_id),
    agentType: line(sub.agent.original_agent_type ?? sub.agent.agent_type),
    kind: 'subagent' as const,
    agentTask: sub.task.description,
    task: {
      taskId: line(sub.task.task_id),
      description: sub.task.description,
      priority: sub.task.priority,
      ...compact({ dependencies: sub.task.dependencies?.map(line) }),
    },
    triggeredByCallId: line(sub.triggered_by_call_id),
    foreignId: line(sub.sub_session_id),
    foreignParentId: line(sub.parent_session_id),
    ...compact({
      instanceId: sub.agent.instance_id === undefined ? undefined : line(sub.agent.instance_id),
    }),
  }
}

function endOf(
  sub: SubAgentSession,
): Extract<EndEvent, { type: 'agent.completed' | 'agent.failed' }> | undefined {
  if (sub.status === 'in_progress') return undefined
  const time = sub.completed_at ?? sub.tool_calls.at(-1)?.ended_at ?? sub.started_at
  const payload = { agentId: line(sub.agent.agent_id), ...compact({ output: sub.output }) }
  if (sub.status === 'success') return recorded('agent.completed', time, payload)
  const reason = sub.termination_reason === undefined ? undefined : line(sub.termination_reason)
  return recorded('agent.failed', time, { ...payload, ...compact({ reason }) })
}

function subRuns(session: MultiAgentSession, main: Run, ids: ImportIds): Map<SubAgentSession, Run> {
  const index = indexSession(session)
  const keys = new Map(session.sub_sessions.map((sub, i) => [sub, `sub/${i}`] as const))
  return new Map(
    session.sub_sessions.map((sub) => {
      const key = keys.get(sub) as string
      const parent = index.byId.get(sub.parent_session_id)
      const parentKey = parent?.sub ? (keys.get(parent.sub) ?? main.key) : main.key
      const position = parent?.callAt.get(sub.triggered_by_call_id)
      const above: SpanId = parentKey === main.key ? main.spanId : ids.span(parentKey)
      const run: Run = {
        key,
        runId: ids.run(key),
        spanId: ids.span(key),
        actor: line(sub.agent.agent_id),
        parentRunId: parentKey === main.key ? main.runId : ids.run(parentKey),
        parentSpanId: position === undefined ? above : callSpan(ids, parentKey, position),
        taskId: line(sub.task.task_id),
      }
      return [sub, run] as const
    }),
  )
}

function triggerStart(sub: SubAgentSession, index: ReturnType<typeof indexSession>): number {
  const parent = index.byId.get(sub.parent_session_id)
  const call = parent?.calls[parent.callAt.get(sub.triggered_by_call_id) ?? -1]
  return call ? millis(call.started_at) : 0
}

/** Sub-sessions ordered so that each comes after its parent. */
function parentsFirst({ sub_sessions }: MultiAgentSession): SubAgentSession[] {
  const children = new Map<string, SubAgentSession[]>()
  const ids = new Set(sub_sessions.map((sub) => sub.sub_session_id))
  const ordered: SubAgentSession[] = []
  for (const sub of sub_sessions) {
    const list = children.get(sub.parent_session_id)
    if (!ids.has(sub.parent_session_id)) ordered.push(sub)
    else if (list) list.push(sub)
    else children.set(sub.parent_session_id, [sub])
  }
  for (let i = 0; i < ordered.length; i++) {
    for (const child of children.get((ordered[i] as SubAgentSession).sub_session_id) ?? [])
      ordered.push(child)
  }
  return ordered
}

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
