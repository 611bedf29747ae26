import type { RunRow, SessionRow } from '../../contract/index-rows.ts'
import type { SessionView } from '../../contract/session-views.ts'
import { costView } from '../ledger/cost-view.ts'

type Status = Pick<SessionView, 'status' | 'completion_status'>

const ends: Readonly<Record<NonNullable<RunRow['ending']>, Status>> = {
  completed: { status: 'completed', completion_status: 'completed' },
  failed: { status: 'error', completion_status: 'error' },
  cancelled: { status: 'cancelled', completion_status: 'cancelled' },
  killed: { status: 'killed', completion_status: 'killed' },
  abandoned: { status: 'abandoned', completion_status: 'abandoned' },
}

/** What is known of an agent beside its row. */
type Beside = {
  /** The session that it works in. */
  readonly session: SessionRow
  /** The short id of whoever gave it its work: another agent, or the session. */
  readonly parent: string
  readonly depth: number
  /** What it asks of people, as subjects of approvals. */
  readonly asks: readonly unknown[]
}

const iso = (ms: number): string => new Date(ms).toISOString()

/** What people call an agent. A CLI names its subagents by ids of its own, which say less than what they are. */
export const agentName = (
  { agentId, agentType }: Pick<RunRow, 'agentId' | 'agentType'>,
  { origin }: Pick<SessionRow, 'origin'>,
): string => (origin === 'managed' ? (agentType ?? agentId) : (agentId ?? agentType)) ?? 'agent'

/** An agent that works inside of a session, as lists of sessions show it: below whoever gave it its work. */
export function agentView(row: RunRow, { session, parent, depth, asks }: Beside): SessionView {
  const isOver = row.ending !== null
  const running: Status = { status: asks.length > 0 ? 'waiting_input' : 'running', completion_status: null }
  const { status, completion_status } = row.ending ? ends[row.ending] : running
  const tokens = row.tokens ?? row.declaredTokens ?? 0
  const cost = costView({ ...row, cli: session.cli, billing: session.billing, priceList: session.priceList })
  return {
    session_id: row.shortId,
    id: row.runId,
    inside_session_id: session.shortId,
    name: agentName(row, session),
    friendly_name: null,
    agent_type: row.agentType,
    cli: session.cli,
    cli_version: null,
    model: row.model,
    origin: 'agent',
    status,
    activity: isOver ? null : row.activity,
    health: isOver ? 'unknown' : 'ok',
    detail: isOver ? row.detail : row.doing,
    waiting_for: isOver || asks.length === 0 ? null : waitOf(asks[0]),
    limited_until: null,
    current_task: row.task,
    phase: null,
    lock: null,
    parent_session_id: parent,
    depth,
    children: 0,
    running_agents: 0,
    ended_agents: 0,
    working_dir: row.repoPath,
    worktree: null,
    permission_mode: null,
    tmux_session: null,
    tmux_socket: null,
    is_alive: !isOver,
    attached: 0,
    spawn_prompt: row.task,
    created_at: iso(row.startedMs),
    spawned_at: iso(row.startedMs),
    completed_at: row.endedMs === null ? null : iso(row.endedMs),
    last_activity_at: iso(row.endedMs ?? row.lastMs),
    completion_status,
    completion_message: isOver ? row.detail : null,
    tokens_used: tokens,
    ...cost,
    subtree_tokens: tokens,
    subtree_cost_usd: cost.cost_usd,
    subtree_cost_is_estimate: cost.cost_is_estimate,
    budget: null,
    context_percent: null,
    total_tools: row.toolCompleted + row.toolFailed,
    // Its session asks for it, and is counted for that.
    pending_approvals: 0,
    queued_messages: 0,
    queued_reason: null,
    last_checkpoint: null,
    alerts: [],
  }
}

/** What somebody waits for who asks about a subject. */
export function waitOf(subject: unknown): SessionView['waiting_for'] {
  if (subject === 'tool') return 'permission'
  return subject === 'question' || subject === 'plan' ? subject : 'approval'
}
