import type { ToolCall } from '../contract/session-file/agent-session.ts'
import type {
  AgentIdentifier,
  AgentSummary,
  MultiAgentSession,
  SubAgentSession,
} from '../contract/session-file/multi-agent-session.ts'
import type { ReviewerOutput } from '../contract/session-file/outputs.ts'
import { millisOf } from '../core/json/iso-time.ts'
import { isRecord } from '../core/json/json-value.ts'

type Verdict = ReviewerOutput['verdict']
type Recorded = Omit<MultiAgentSession, 'summary'>
/** An agent's recorded share, and whether a wall clock or its calls gave the duration. */
type AgentFigures = { readonly agent: AgentIdentifier; readonly summary: AgentSummary }

/** The figures of a collaboration as its records have them. */
export type Figures = {
  /** In order of first appearance: the orchestrator, then the participants. */
  readonly agents: readonly AgentFigures[]
  readonly tasks: { readonly total: number; readonly completed: number; readonly failed: number }
  readonly reviewIterations: number
  readonly lastVerdict?: Verdict
}

export function recordedFigures(session: Recorded): Figures {
  const reviews = session.sub_sessions.flatMap(({ output }) =>
    output && 'verdict' in output ? [output.verdict] : [],
  )
  const results = session.messages.flatMap(({ message_type, payload }) =>
    message_type === 'review_result' && isRecord(payload) ? [payload['verdict']] : [],
  )
  const lastVerdict = reviews.at(-1) ?? results.filter(isVerdict).at(-1)
  return {
    agents: agentFigures(session),
    tasks: taskFigures(session.sub_sessions),
    reviewIterations: Math.max(reviews.length, results.length),
    ...(lastVerdict === undefined ? {} : { lastVerdict }),
  }
}

/** A sub-session that reviews; its work is not counted as a task. */
export const isReview = (sub: SubAgentSession): boolean =>
  sub.agent.agent_type === 'reviewer' || (sub.output !== undefined && 'verdict' in sub.output)

/** How long at least one of the calls ran; parallel calls are counted once. */
export function busyMs(calls: readonly ToolCall[]): number {
  const spans = calls
    .map((call) => ({ start: millisOf(call.started_at), end: millisOf(call.ended_at) }))
    .sort((a, b) => a.start - b.start)
  let total = 0
  let reached = Number.NEGATIVE_INFINITY
  for (const { start, end } of spans) {
    if (end <= reached) continue
    total += end - Math.max(start, reached)
    reached = end
  }
  return total
}

/** How long a sub-session took, up to its last call while it still runs. */
export function subSessionMs(sub: SubAgentSession): number {
  const start = millisOf(sub.started_at)
  const lastCall = sub.tool_calls.reduce((last, call) => Math.max(last, millisOf(call.ended_at)), start)
  return Math.max(0, (sub.completed_at === undefined ? lastCall : millisOf(sub.completed_at)) - start)
}

function agentFigures(session: Recorded): AgentFigures[] {
  const { orchestrator, participants } = session.collaboration
  const agents = new Map([orchestrator, ...participants].map((agent) => [agent.agent_id, agent]))
  const subs = new Map<string, SubAgentSession[]>()
  for (const sub of session.sub_sessions) {
    if (!agents.has(sub.agent.agent_id)) agents.set(sub.agent.agent_id, sub.agent)
    const own = subs.get(sub.agent.agent_id)
    if (own) own.push(sub)
    else subs.set(sub.agent.agent_id, [sub])
  }
  return [...agents.values()].map((agent) => {
    const own = subs.get(agent.agent_id) ?? []
    const isMain = agent.agent_id === orchestrator.agent_id
    const calls = own.reduce((sum, sub) => sum + sub.tool_calls.length, 0)
    const ms = own.reduce((sum, sub) => sum + subSessionMs(sub), 0)
    const status = isMain ? session.status : (own.at(-1)?.status ?? session.status)
    const summary: AgentSummary = {
      agent_id: agent.agent_id,
      agent_type: agent.agent_type,
      tool_calls_count: calls + (isMain ? session.tool_calls.length : 0),
      duration_ms: ms + (isMain ? busyMs(session.tool_calls) : 0),
      status: status === 'success' ? 'completed' : status,
      ...(agent.original_agent_type === undefined ? {} : { original_agent_type: agent.original_agent_type }),
    }
    return { agent, summary }
  })
}

function taskFigures(subs: readonly SubAgentSession[]): Figures['tasks'] {
  const last = new Map<string, 'completed' | 'failed' | 'open'>()
  for (const sub of subs) {
    if (isReview(sub) || sub.agent.agent_type === 'architect') continue
    const said = sub.output && 'changes' in sub.output ? sub.output.status : undefined
    const isFailed = sub.status === 'failed' || said === 'failed'
    const isDone = sub.status === 'success' && said !== 'partial'
    last.set(sub.task.task_id, isFailed ? 'failed' : isDone ? 'completed' : 'open')
  }
  const fates = [...last.values()]
  return {
    total: fates.length,
    completed: fates.filter((fate) => fate === 'completed').length,
    failed: fates.filter((fate) => fate === 'failed').length,
  }
}

const isVerdict = (value: unknown): value is Verdict =>
  value === 'approved' || value === 'changes_requested' || value === 'rejected'
