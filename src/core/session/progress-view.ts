import type { CheckpointView, MetricsView, ProgressView, SessionView } from '../../contract/session-views.ts'
import type { Evidence } from './evidence/evidence.ts'

/** The last tool call as the index has it. */
type LastTool = {
  readonly tool: string
  readonly atMs: number
  readonly args: Record<string, unknown>
}

/** What progress is made of. */
type ProgressParts = {
  readonly session: SessionView
  readonly tools: Readonly<Record<string, number>>
  readonly lastTool: LastTool | undefined
  readonly checkpoints: readonly CheckpointView[]
  /** Those that work for it now. */
  readonly agents: readonly SessionView[]
  readonly evidence: Evidence | undefined
  readonly typical: TypicalUsage | undefined
  /** The model calls that nobody told the tokens of. */
  readonly notCounted: string | null
  readonly now: number
}

const active = new Set(['spawned', 'starting', 'running'])

/** How far a session is: what it used, what it did last, and its own report. */
export function progressView(parts: ProgressParts): ProgressView {
  const { session, tools, lastTool, checkpoints, now } = parts
  const estimate = estimateOf(parts)
  const endMs = session.completed_at === null ? now : Date.parse(session.completed_at)
  const idleMs = Math.max(0, now - Date.parse(session.last_activity_at))
  const isComplete = session.completion_status !== null
  // Why its turn failed is the first thing to know of it.
  const failure = session.status === 'failed' ? session.detail : null
  const doing = session.origin === 'agent' && !isComplete ? session.detail : null
  return {
    session_id: session.session_id,
    name: session.name,
    friendly_name: session.friendly_name,
    status: session.status === 'running' ? 'working' : (session.completion_status ?? session.status),
    elapsed_seconds: seconds(endMs - Date.parse(session.created_at)),
    tokens_used: session.tokens_used,
    tokens_remaining_estimate: estimate.remaining,
    completion_percentage: estimate.percent,
    estimate_basis: estimate.basis,
    tools_used: { ...tools },
    total_tools: Object.values(tools).reduce((sum, n) => sum + n, 0),
    last_tool: lastTool
      ? {
          name: lastTool.tool,
          args: lastTool.args,
          timestamp: new Date(lastTool.atMs).toISOString(),
          seconds_ago: seconds(now - lastTool.atMs),
        }
      : null,
    current_activity:
      failure ??
      doing ??
      session.current_task ??
      firstLine(parts.evidence?.last.text?.text) ??
      session.detail,
    checkpoints: [...checkpoints],
    is_idle: session.status === 'idle',
    idle_seconds: isComplete || active.has(session.status) ? 0 : seconds(idleMs),
    is_waiting_input: session.status === 'waiting_input',
    is_complete: isComplete,
    context_percent: session.context_percent,
    cost_usd: session.cost_usd,
    cost_is_estimate: session.cost_is_estimate,
    cost_basis: session.cost_basis,
    not_counted: parts.notCounted,
    queued_messages: session.queued_messages,
    queued_reason: session.queued_reason,
    agents: parts.agents.map((agent) => ({
      session_id: agent.session_id,
      name: agent.name,
      agent_type: agent.agent_type,
      status: agent.status,
      tokens_used: agent.tokens_used,
      current_activity: agent.detail,
      current_task: agent.current_task,
    })),
    ended_agents: session.ended_agents,
    alerts: session.alerts,
  }
}

const seconds = (ms: number): number => Math.max(0, Math.floor(ms / 1000))

/** The agent's own word, like "3/5 tasks" or "60 %"; nothing is made up where it said none. */
function saidPercent(checkpoints: readonly CheckpointView[]): number | null {
  for (const { message, metadata } of checkpoints.toReversed()) {
    const told = metadata?.['progress'] ?? metadata?.['percent'] ?? metadata?.['progress_percent']
    if (typeof told === 'number' && told >= 0 && told <= 100) return Math.round(told)
    const [, done, of] = /\((\d+)\s*\/\s*(\d+)\b/.exec(message) ?? []
    if (done !== undefined && Number(of) > 0)
      return Math.min(100, Math.round((Number(done) / Number(of)) * 100))
    const [, percent] = /\b(\d{1,3})\s?%/.exec(message) ?? []
    if (percent !== undefined && Number(percent) <= 100) return Number(percent)
  }
  return null
}

type Estimate = {
  readonly percent: number | null
  readonly remaining: number | null
  readonly basis: string | null
}

/** How much is left: nothing after the end; else by the agent's own word, else by what others of its kind took, else by its budget. */
function estimateOf({ session, checkpoints, typical }: ProgressParts): Estimate {
  const { tokens_used: used, budget } = session
  const said = saidPercent(checkpoints)
  const { completion_status } = session
  if (completion_status === 'completed') return { percent: 100, remaining: 0, basis: 'it is completed' }
  if (completion_status !== null)
    return { percent: said, remaining: null, basis: said === null ? null : 'its own report' }
  if (said !== null) {
    const remaining = said > 0 ? Math.round(used / (said / 100)) - used : null
    return { percent: said, remaining, basis: 'its own report' }
  }
  if (typical) {
    const percent = Math.min(99, Math.round((used / typical.tokens) * 100))
    return { percent, remaining: Math.max(0, typical.tokens - used), basis: typical.basis }
  }
  if (budget?.tokens === undefined) return { percent: null, remaining: null, basis: null }
  return { percent: null, remaining: Math.max(0, budget.tokens - used), basis: 'its budget' }
}

const firstLine = (text: string | undefined): string | undefined => {
  const line = text?.trim().split('\n', 1)[0]?.trim()
  return line ? line.slice(0, 200) : undefined
}

/** Progress by its three groups. */
export function metricsOf(progress: ProgressView): MetricsView {
  const { tokens_used, tokens_remaining_estimate, completion_percentage, estimate_basis } = progress
  const { cost_usd, cost_is_estimate, cost_basis, not_counted } = progress
  const { tools_used, total_tools, last_tool } = progress
  const { status, current_activity, is_idle, idle_seconds, is_waiting_input, is_complete } = progress
  return {
    tokens: {
      tokens_used,
      tokens_remaining_estimate,
      completion_percentage,
      estimate_basis,
      cost_usd,
      cost_is_estimate,
      cost_basis,
      not_counted,
    },
    tools: { tools_used, total_tools, last_tool },
    activity: { status, current_activity, is_idle, idle_seconds, is_waiting_input, is_complete },
  }
}

/** What sessions of a kind usually take, and what that is known from. */
export type TypicalUsage = { readonly tokens: number; readonly basis: string }

type Past = { readonly agentType: string | null; readonly tokens: number | null }

const fewestSamples = 3

/** The median of earlier sessions of the same kind that completed; too few of them say nothing. */
export function typicalUsage(agentType: string | null, past: readonly Past[]): TypicalUsage | undefined {
  if (agentType === null) return undefined
  const used = past
    .filter((one) => one.agentType === agentType && (one.tokens ?? 0) > 0)
    .map(({ tokens }) => tokens ?? 0)
    .toSorted((a, b) => a - b)
  if (used.length < fewestSamples) return undefined
  return {
    tokens: used[Math.floor((used.length - 1) / 2)] ?? 0,
    basis: `the median of ${used.length} earlier ${agentType} sessions`,
  }
}
