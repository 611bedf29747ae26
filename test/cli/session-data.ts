import type { SessionId } from '../../src/contract/ids.ts'
import type {
  CheckpointView,
  ProgressView,
  SessionDetail,
  SessionEventView,
  SessionView,
  SpawnedView,
} from '../../src/contract/session-views.ts'
import { sessionWith } from '../support/blank-session.ts'

/** Half past three on the day of document 3's examples. */
export const now = Date.parse('2026-01-27T15:30:00.000Z')

/** A time of that day, or some minutes before its half past three. */
export const at = (clock: string) => `2026-01-27T${clock}:00.000Z`
export const ago = (minutes: number) => new Date(now - minutes * 60_000).toISOString()

/** A long id that is the same for the same short one. */
export const longId = (short: string) => `ses_${short.padStart(26, '0')}` as SessionId

/** A session that was spawned ten minutes ago and works. */
export function session(session_id: string, more: Partial<SessionView> = {}): SessionView {
  return sessionWith({
    session_id,
    id: longId(session_id),
    name: `engineer-${session_id}`,
    agent_type: 'engineer',
    cli: 'claude',
    cli_version: '2.1.0',
    model: 'sonnet',
    origin: 'managed',
    status: 'running',
    activity: 'working',
    health: 'ok',
    working_dir: '/work/app',
    permission_mode: 'manual',
    tmux_session: `claude-${session_id}`,
    tmux_socket: 'muster',
    is_alive: true,
    spawn_prompt: 'Do it',
    created_at: ago(10),
    spawned_at: ago(10),
    last_activity_at: ago(1),
    tokens_used: 2450,
    subtree_tokens: 2450,
    ...more,
  })
}

export const detail = (session_id: string, more: Partial<SessionView> = {}): SessionDetail => ({
  ...session(session_id, more),
  tools_used: {},
  checkpoints: [],
})

/** A session that ended some minutes ago. */
export const ended = (session_id: string, minutes: number, more: Partial<SessionView> = {}): SessionView =>
  session(session_id, {
    status: 'completed',
    completion_status: 'completed',
    completed_at: ago(minutes),
    ...more,
  })

export const milestone = (number: number, clock: string, message: string): CheckpointView => ({
  timestamp: at(clock),
  message,
  metadata: null,
  number,
  commit: null,
  tokens: null,
  cost_usd: null,
})

export const event = (seq: number, clock: string, event_type: string, message: string): SessionEventView => ({
  session_id: '1749a2fe',
  event_type,
  timestamp: at(clock),
  message,
  metadata: null,
  by: null,
  seq,
})

/** The progress of document 3's example. */
export const progress: ProgressView = {
  session_id: 'def456',
  name: 'engineer-def456',
  friendly_name: 'engineer-task1043',
  status: 'working',
  elapsed_seconds: 180,
  tokens_used: 2450,
  tokens_remaining_estimate: 7550,
  completion_percentage: 24,
  estimate_basis: 'its own report',
  tools_used: { Bash: 2, Read: 5, Edit: 1, Write: 3 },
  total_tools: 11,
  last_tool: {
    name: 'Write',
    args: { content: 'test()', file_path: 'tests/api.test.ts' },
    timestamp: at('15:20'),
    seconds_ago: 10,
  },
  current_activity: 'Writing unit tests for API endpoint',
  checkpoints: [
    milestone(1, '15:10', 'Started: Implement feature X'),
    milestone(2, '15:12', 'Completed data model (3/5 tasks)'),
    milestone(3, '15:14', 'Writing tests'),
  ],
  is_idle: false,
  idle_seconds: 0,
  is_waiting_input: false,
  is_complete: false,
  context_percent: null,
  cost_usd: null,
  cost_is_estimate: false,
  cost_basis: null,
  not_counted: null,
  queued_messages: 0,
  queued_reason: null,
  agents: [],
  ended_agents: 0,
  alerts: [],
}

export const spawned: SpawnedView = {
  session_id: 'abc123',
  id: longId('abc123'),
  name: 'engineer-abc123',
  friendly_name: null,
  agent_type: 'engineer',
  cli: 'claude',
  model: 'sonnet',
  permission_mode: 'manual',
  isolation: 'none',
  working_dir: '/work/app',
  worktree: null,
  parent_session_id: '1749a2fe',
  tmux_session: 'claude-abc123',
  attach: 'sm attach abc123',
  created_at: ago(0),
  warnings: [],
  dry_run: null,
}
