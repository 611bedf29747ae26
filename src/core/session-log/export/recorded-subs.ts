import type { ToolCall } from '../../../contract/formats/std-001/tool-call.ts'
import type { SubAgentSession } from '../../../contract/formats/std-008/sub-session.ts'
import { millisOf } from '../json/time.ts'
import { compact } from '../json/value.ts'
import { delegatingCall } from '../links/triggers.ts'
import { type Ending, endingOf } from '../rebuild/ending.ts'
import { textOf } from '../rebuild/recorded.ts'
import { type CallEvents, toolCallFrom } from '../rebuild/tool-call.ts'
import type { FileAgents } from './agents.ts'
import type { Collected } from './collect.ts'
import { outputOf } from './outputs.ts'
import type { OwnerRecord } from './owner-record.ts'

/** The calls of every owner and the sub-sessions, linked both ways. */
export type RecordedSubs = { readonly calls: ToolCall[]; readonly subs: Map<OwnerRecord, SubAgentSession> }

export function recordedSubs(found: Collected, agents: FileAgents, sessionId: string): RecordedSubs {
  const now = found.lastAt
  const calls = new Map<OwnerRecord, ToolCall[]>(
    [found.root, ...found.subs].map((owner) => [owner, owner.calls.map((call) => timedCall(call, now))]),
  )
  const ids = new Map<OwnerRecord, string>([[found.root, sessionId]])
  found.subs.forEach((owner, i) => ids.set(owner, subId(owner, i)))
  const subs = new Map<OwnerRecord, SubAgentSession>()
  found.subs.forEach((owner, i) => {
    const sub = subOf({ owner, agents, number: i + 1, ids, calls: calls.get(owner) ?? [], now })
    subs.set(owner, { ...sub, ...outputOf(owner, sub) })
  })
  linkSubs({ found, calls, subs })
  for (const list of calls.values()) list.sort(byStart)
  return { calls: calls.get(found.root) ?? [], subs }
}

/** A call lasts from its start to its end as the file has them, whatever was measured around less of it. */
function timedCall(events: CallEvents, now: string): ToolCall {
  const call = toolCallFrom(events, now)
  return { ...call, duration_ms: millisOf(call.ended_at) - millisOf(call.started_at) }
}

// Run ids are unique in the journal, so a sub-session can be found there again.
const subId = ({ spawned, started }: OwnerRecord, position: number): string =>
  spawned?.event.runId ?? started?.event.runId ?? `sub-${position + 1}`

type Source = {
  readonly owner: OwnerRecord
  readonly agents: FileAgents
  readonly number: number
  readonly ids: ReadonlyMap<OwnerRecord, string>
  readonly calls: ToolCall[]
  readonly now: string
}

function subOf({ owner, agents, number, ids, calls, now }: Source): SubAgentSession {
  const { spawned, started, assigned } = owner
  const task = spawned?.event.payload.task ?? assigned?.payload
  const prompt = spawned?.event.payload.agentTask ?? started?.event.payload.prompt ?? ''
  const taskId = task?.taskId || spawned?.event.taskId || `task-${String(number).padStart(3, '0')}`
  return compact({
    sub_session_id: ids.get(owner) ?? `sub-${number}`,
    parent_session_id: (owner.parent && ids.get(owner.parent)) ?? '',
    agent: { ...agents.of(owner) },
    triggered_by_call_id: '',
    task: compact({
      task_id: taskId,
      description: textOf(task?.description ?? prompt),
      priority: task?.priority ?? 'medium',
      dependencies: task?.dependencies,
    }),
    started_at: spawned?.event.timestamp ?? started?.event.timestamp ?? now,
    ...endOf(owner),
    tool_calls: calls,
  })
}

/** A task may fail though its agent returned: what it did was not taken. */
function endOf({ ended, failed }: OwnerRecord): Ending {
  const ending = endingOf(ended?.event)
  if (!failed || ending.status !== 'success') return ending
  const { reason } = failed.payload
  return { ...ending, status: 'failed', termination_reason: reason ? `error: ${reason}` : 'error' }
}

type Links = {
  readonly found: Collected
  readonly calls: ReadonlyMap<OwnerRecord, ToolCall[]>
  readonly subs: ReadonlyMap<OwnerRecord, SubAgentSession>
}

/** Joins every sub-session to a call of its parent, then says in the calls what their agents did. */
function linkSubs({ found, calls, subs }: Links): void {
  const byId = new Map(
    [...calls].map(([owner, list]) => [owner, new Map(list.map((call) => [call.call_id, call]))]),
  )
  const triggers = new Map<ToolCall, OwnerRecord>()
  for (const [owner, sub] of subs) {
    const parent = owner.parent ?? found.root
    const wanted = byId.get(parent)?.get(owner.spawned?.event.payload.triggeredByCallId ?? '')
    // A call names one sub-session; the second agent that one call started gets a call of its own.
    const call = wanted && !triggers.has(wanted) ? asTask(wanted) : spawnCall(owner, sub)
    if (call !== wanted) calls.get(parent)?.push(call)
    triggers.set(call, owner)
    sub.triggered_by_call_id = call.call_id
  }
  for (const [call, owner] of triggers) {
    const sub = subs.get(owner)
    if (sub) call.subagent_info = subagentInfo(owner, sub)
  }
}

function asTask(call: ToolCall): ToolCall {
  if (call.tool_name !== 'Task') call.original_tool_name ??= call.tool_name
  call.tool_name = 'Task'
  call.tool_category = 'interaction'
  return call
}

/** The call of an agent that no call started, named by how it came. */
function spawnCall({ spawned, started, assigned, reported }: OwnerRecord, sub: SubAgentSession): ToolCall {
  const call = delegatingCall(sub, `task-${sub.sub_session_id}`)
  const isOfWorkflow = (spawned?.event.workflowId ?? started?.event.workflowId) !== undefined
  const original_tool_name = isOfWorkflow ? 'workflow.agent' : 'sm.spawn'
  if (!isOfWorkflow || !assigned) return { ...call, original_tool_name }
  // From the assignment to the report: longer than the agent itself was there.
  const started_at = assigned.timestamp
  const ended_at = reported?.timestamp ?? call.ended_at
  const { input } = assigned.payload
  return {
    ...call,
    original_tool_name,
    started_at,
    ended_at,
    duration_ms: millisOf(ended_at) - millisOf(started_at),
    input: { params: compact({ ...call.input.params, input }) },
  }
}

function subagentInfo(owner: OwnerRecord, sub: SubAgentSession): NonNullable<ToolCall['subagent_info']> {
  const tokens = [...owner.tokens.values()].reduce((sum, each) => sum + each, 0)
  const ended = owner.ended?.event.payload
  return compact({
    subagent_type: sub.agent.original_agent_type ?? sub.agent.agent_type,
    sub_session_id: sub.sub_session_id,
    tool_uses: sub.tool_calls.length,
    tokens_used: tokens > 0 ? tokens : ended && 'tokens' in ended ? ended.tokens : undefined,
    tools_breakdown: breakdown(sub.tool_calls),
  })
}

function breakdown(calls: readonly ToolCall[]): { tool_name: string; count: number }[] | undefined {
  const counts = new Map<string, number>()
  for (const { tool_name } of calls) counts.set(tool_name, (counts.get(tool_name) ?? 0) + 1)
  return counts.size === 0 ? undefined : [...counts].map(([tool_name, count]) => ({ tool_name, count }))
}

const byStart = (a: ToolCall, b: ToolCall): number => millisOf(a.started_at) - millisOf(b.started_at)
