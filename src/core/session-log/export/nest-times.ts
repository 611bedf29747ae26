import type { AgentSession } from '../../../contract/formats/std-001/session.ts'
import type { ToolCall } from '../../../contract/formats/std-001/tool-call.ts'
import type { MultiAgentSession } from '../../../contract/formats/std-008/session.ts'
import type { SubAgentSession } from '../../../contract/formats/std-008/sub-session.ts'
import { millisOf } from '../json/time.ts'
import { indexSession, triggerOf } from '../session-index.ts'

/**
 * Widens the outer times until they hold the inner ones: a Task call lasts as long as the agent it started, also
 * when it returned at once and the agent worked on in the background. Children come before their parents.
 */
export function nestTimes(session: MultiAgentSession, subs: readonly SubAgentSession[]): void {
  const index = indexSession(session)
  for (const sub of subs) {
    holdCalls(sub, sub.tool_calls)
    const trigger = triggerOf(index, sub)
    if (trigger) holdSub(trigger, sub)
  }
  nestCalls(session)
}

/** A session holds its own calls. */
export function nestCalls(session: AgentSession): void {
  for (const call of session.tool_calls) {
    if (isBefore(call.started_at, session.created_at)) session.created_at = call.started_at
    if (session.completed_at !== undefined && isBefore(session.completed_at, call.ended_at))
      session.completed_at = call.ended_at
  }
}

function holdCalls(sub: SubAgentSession, calls: readonly ToolCall[]): void {
  for (const call of calls) {
    if (isBefore(call.started_at, sub.started_at)) sub.started_at = call.started_at
    if (sub.completed_at !== undefined && isBefore(sub.completed_at, call.ended_at))
      sub.completed_at = call.ended_at
  }
  if (sub.completed_at !== undefined && isBefore(sub.completed_at, sub.started_at))
    sub.completed_at = sub.started_at
}

function holdSub(trigger: ToolCall, sub: SubAgentSession): void {
  const last = sub.tool_calls.reduce(
    (end, call) => (isBefore(end, call.ended_at) ? call.ended_at : end),
    sub.started_at,
  )
  const end = sub.completed_at ?? last
  if (isBefore(sub.started_at, trigger.started_at)) trigger.started_at = sub.started_at
  if (isBefore(trigger.ended_at, end)) {
    if (!trigger.open) trigger.original_ended_at = trigger.ended_at
    trigger.ended_at = end
  }
  trigger.duration_ms = millisOf(trigger.ended_at) - millisOf(trigger.started_at)
}

const isBefore = (a: string, b: string): boolean => millisOf(a) < millisOf(b)
