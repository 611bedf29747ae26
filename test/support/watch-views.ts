import type { Size } from '../../src/cli/tui/held-terminal.ts'
import { openModel, type WatchModel } from '../../src/cli/watch/model.ts'
import { reduce } from '../../src/cli/watch/reduce.ts'
import type { SessionId } from '../../src/contract/ids.ts'
import type { ApprovalView, SessionView } from '../../src/contract/session-views.ts'
import { sessionWith } from './blank-session.ts'

export const noon = Date.parse('2026-01-27T12:00:00.000Z')

/** A time so many seconds before noon. */
export const ago = (seconds: number): string => new Date(noon - seconds * 1000).toISOString()

/** A running session; `number` makes its ids. */
export function sessionView(number: number, more: Partial<SessionView> = {}): SessionView {
  const short = number.toString(16).padStart(8, '0')
  return sessionWith({
    session_id: short,
    id: `ses_${short.padStart(26, '0')}` as SessionId,
    name: `engineer-${short}`,
    friendly_name: `engineer-${number}`,
    agent_type: 'engineer',
    cli: 'claude',
    model: 'sonnet',
    origin: 'managed',
    status: 'running',
    activity: 'working',
    health: 'ok',
    working_dir: '/work/app',
    permission_mode: 'acceptEdits',
    tmux_session: `claude-${short}`,
    tmux_socket: 'muster',
    is_alive: true,
    created_at: ago(600 + number),
    spawned_at: ago(600 + number),
    last_activity_at: ago(5),
    tokens_used: 12_400,
    subtree_tokens: 12_400,
    context_percent: 31,
    ...more,
  })
}

/** A question of a session to run a command. */
export function approvalView(session: SessionView, more: Partial<ApprovalView> = {}): ApprovalView {
  return {
    approval_id: `apr_${session.session_id}`,
    session_id: session.session_id,
    name: session.friendly_name ?? session.name,
    subject: 'tool',
    action: 'Bash: npm publish --access public',
    reason: 'Publishes the release',
    scope: '/work/app',
    diff: null,
    risk: 'medium',
    options: ['once', 'session', 'always', 'deny'],
    requested_at: ago(120),
    expires_at: null,
    decision: null,
    decided_by: null,
    answer: null,
    ...more,
  }
}

/** A small crew in every state there is. */
export function crew(): { sessions: SessionView[]; approvals: ApprovalView[] } {
  const lead = sessionView(1, {
    friendly_name: 'lead',
    agent_type: 'architect',
    model: 'opus',
    status: 'idle',
    activity: 'idle',
    last_activity_at: ago(840),
    current_task: 'Add login with passkeys',
    children: 3,
    tokens_used: 210_000,
    cost_usd: 1.9,
    subtree_tokens: 1_200_000,
    subtree_cost_usd: 7.42,
    context_percent: 62,
  })
  const below = { parent_session_id: lead.session_id, depth: 1 }
  const api = sessionView(2, {
    ...below,
    friendly_name: 'api',
    status: 'waiting_input',
    waiting_for: 'permission',
    pending_approvals: 1,
    last_activity_at: ago(120),
    current_task: 'Sessions and tokens',
    cost_usd: 0.42,
    context_percent: 84,
  })
  const web = sessionView(3, {
    ...below,
    friendly_name: 'web',
    activity: 'calling_tool',
    current_task: 'ログイン画面 login form ✅',
    last_checkpoint: 'Form done, tests next',
    cost_usd: 3.1,
    tokens_used: 480_000,
  })
  const docs = sessionView(4, {
    ...below,
    friendly_name: 'docs',
    status: 'completed',
    activity: null,
    completion_status: 'completed',
    completed_at: ago(300),
    completion_message: 'Guide written, links checked',
    cost_usd: 2,
  })
  const solo = sessionView(5, {
    friendly_name: 'migrate-billing',
    permission_mode: 'bypass',
    activity: 'thinking',
    last_checkpoint: 'Phase 2 of 3: backfill running',
  })
  const slow = sessionView(6, {
    friendly_name: 'nightly',
    health: 'limited',
    waiting_for: 'limit',
    limited_until: '2026-01-27T15:40:00.000Z',
    last_activity_at: ago(3900),
  })
  return {
    sessions: [slow, solo, docs, web, api, lead],
    approvals: [approvalView(api)],
  }
}

/** A watch that has loaded these, at noon. */
export function watchOf(
  loaded: { sessions: readonly SessionView[]; hidden?: number; approvals?: readonly ApprovalView[] },
  size: Size = { columns: 80, rows: 24 },
  color = false,
): WatchModel {
  const model = openModel({ now: noon, size, color, seen: new Set() })
  const { sessions, hidden = 0, approvals = [] } = loaded
  return reduce(model, { kind: 'loaded', sessions, hidden, approvals }).model
}
