import { shortId } from '../contract/ids.ts'
import type { ApprovalRow, MessageRow, SessionRow } from '../contract/index-rows.ts'
import type { ApprovalView, MessageView, SessionView } from '../contract/session-views.ts'
import type { BlobRef } from '../contract/values.ts'
import type { Directory } from './directory.ts'
import { titleOf } from './session-kinds/session-kind.ts'

const iso = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString())

const states = {
  created: 'queued',
  queued: 'queued',
  delivered: 'submitted',
  accepted: 'accepted',
  failed: 'failed',
} as const

/** A message as its sender sees it; `why` says what it waits for. */
export function messageView(row: MessageRow, why?: string): MessageView {
  return {
    message_id: row.messageId,
    session_id: shortId(row.sessionId),
    from: row.fromAgent,
    mode: (row.mode as MessageView['mode'] | null) ?? 'sequential',
    state: states[row.state],
    preview: row.preview ?? '',
    detail: row.detail ?? why ?? null,
    queued_at: iso(row.queuedMs ?? row.createdMs) ?? '',
    accepted_at: iso(row.acceptedMs),
    failed_at: iso(row.failedMs),
  }
}

/** A message that was the answer to a question and needed no delivery. */
export function answeredView(
  row: SessionRow,
  said: { messageId: string; text: string; mode: MessageView['mode']; from: string; at: number },
): MessageView {
  const time = new Date(said.at).toISOString()
  return {
    message_id: said.messageId,
    session_id: row.shortId,
    from: said.from,
    mode: said.mode,
    state: 'answered',
    preview: said.text.slice(0, 2000),
    detail: 'it answered the question of the agent',
    queued_at: time,
    accepted_at: time,
    failed_at: null,
  }
}

/** A question with everything a person needs to decide it. */
export async function approvalView(directory: Directory, row: ApprovalRow): Promise<ApprovalView> {
  const [session, asked] = await Promise.all([directory.find(row.sessionId), directory.event(row.seq)])
  const payload = asked?.type === 'approval.requested' ? asked.payload : undefined
  const { requestedMs, timeoutMs } = row
  return {
    approval_id: row.approvalId,
    session_id: session.shortId,
    name: titleOf(session),
    subject: row.subject,
    action: payload ? textOf(payload.action) : (row.action ?? ''),
    reason: row.reason,
    scope: payload?.scope ?? null,
    diff: payload?.diff === undefined ? null : textOf(payload.diff),
    risk: row.risk,
    options: row.options,
    requested_at: iso(requestedMs) ?? '',
    expires_at: requestedMs === null || timeoutMs === null ? null : iso(requestedMs + timeoutMs),
    decision: row.decision,
    decided_by: row.decidedBy,
    answer: row.answer,
  }
}

/** What a list shows of a text: all of it, or the beginning of one that was moved to a blob. */
export const textOf = (body: string | BlobRef): string => (typeof body === 'string' ? body : body.preview)

const summaryChars = 240

/** What a session is about, in two or three sentences of its own: the task, the last milestone, its last words. */
export async function summaryOf(directory: Directory, row: SessionRow) {
  const { current_activity, checkpoints, last_tool, status } = await directory.progress(row)
  const name = titleOf(row)
  const prompt = row.task ?? row.prompt
  const sentences = [
    prompt === null ? `${name} is ${status}.` : `${name} is ${status}: ${short(prompt)}`,
    checkpoints.at(-1) && `Last milestone: ${short(checkpoints.at(-1)?.message ?? '')}`,
    row.completion ??
      (current_activity && current_activity !== prompt && `It last said: ${short(current_activity)}`),
    last_tool && status === 'working' && `It last used ${last_tool.name}.`,
  ]
  const summary = sentences.filter(Boolean).join(' ')
  return { session_id: row.shortId, name, summary, made_by: 'Muster, from what it said itself' }
}

function short(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  const cut = line.length > summaryChars ? `${line.slice(0, summaryChars - 1)}…` : line
  return /[.!?…]$/.test(cut) ? cut : `${cut}.`
}

/** What a session is shown of the one above it and of those beside it: who they are and how they stand, no word of theirs. */
export const namedView = (view: SessionView): SessionView => ({
  session_id: view.session_id,
  id: view.id,
  inside_session_id: null,
  name: view.name,
  friendly_name: view.friendly_name,
  agent_type: view.agent_type,
  cli: view.cli,
  cli_version: null,
  model: null,
  origin: view.origin,
  status: view.status,
  activity: view.activity,
  health: view.health,
  detail: null,
  waiting_for: view.waiting_for,
  limited_until: null,
  current_task: null,
  phase: null,
  lock: null,
  parent_session_id: view.parent_session_id,
  depth: view.depth,
  children: 0,
  running_agents: 0,
  ended_agents: 0,
  working_dir: null,
  worktree: null,
  permission_mode: null,
  tmux_session: null,
  tmux_socket: null,
  is_alive: view.is_alive,
  attached: 0,
  spawn_prompt: null,
  created_at: view.created_at,
  spawned_at: view.spawned_at,
  completed_at: view.completed_at,
  last_activity_at: view.last_activity_at,
  completion_status: view.completion_status,
  completion_message: null,
  tokens_used: 0,
  billing: null,
  cost_usd: null,
  cost_is_estimate: false,
  cost_basis: null,
  subtree_tokens: 0,
  subtree_cost_usd: null,
  subtree_cost_is_estimate: false,
  budget: null,
  context_percent: null,
  total_tools: 0,
  pending_approvals: 0,
  queued_messages: 0,
  queued_reason: null,
  last_checkpoint: null,
  alerts: [],
})
