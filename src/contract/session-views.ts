import * as z from 'zod'
import { GivenName } from './config/names.ts'
import { RunId, SessionId } from './ids.ts'
import {
  Activity,
  ApprovalSubject,
  Billing,
  Budget,
  Count,
  Isolation,
  Lifecycle,
  PermissionMode,
  WorkflowFailure,
} from './values.ts'

const text = z.string().nullable()
const amount = z.number().nullable()
const Time = z.string().nullable()

const costBasis = {
  /** Some of it was computed with a price list, or a plan pays: no bill says it. */
  cost_is_estimate: z.boolean(),
  /** Who told the cost or which prices it was computed with, and why it is not known or not whole. */
  cost_basis: text,
}

/** How well what is known of a session is known, and how it fares. */
export const SessionHealth = z.enum([
  'ok',
  'stale',
  'stuck',
  'retrying',
  'limited',
  'gone',
  'crashed',
  'unknown',
])
export type SessionHealth = z.infer<typeof SessionHealth>

/** A milestone, under the names document 3 gives it. */
export const CheckpointView = z.strictObject({
  timestamp: z.string(),
  message: z.string(),
  metadata: z.record(z.string(), z.unknown()).nullable(),
  /** Number of the milestone in its session, from 1. */
  number: Count,
  commit: text,
  tokens: amount,
  cost_usd: amount,
})
export type CheckpointView = z.infer<typeof CheckpointView>

/** An event of a session or of one of its children, under the names document 3 gives it. */
export const SessionEventView = z.strictObject({
  session_id: z.string(),
  event_type: z.string(),
  timestamp: z.string(),
  message: z.string(),
  metadata: z.record(z.string(), z.unknown()).nullable(),
  /** Who asked for it or reported it, as proved: `operator`, or a session by its short id; none for the daemon. */
  by: text,
  seq: Count,
})
export type SessionEventView = z.infer<typeof SessionEventView>

/** Somebody must decide something. */
export const ApprovalView = z.strictObject({
  approval_id: z.string(),
  session_id: z.string(),
  name: z.string(),
  subject: ApprovalSubject,
  action: z.string(),
  reason: text,
  scope: z.unknown(),
  diff: text,
  risk: z.enum(['low', 'medium', 'high']).nullable(),
  options: z.array(z.string()),
  requested_at: z.string(),
  expires_at: Time,
  decision: z.enum(['granted', 'rejected', 'expired']).nullable(),
  decided_by: text,
  answer: text,
})
export type ApprovalView = z.infer<typeof ApprovalView>

/** A message and its receipts. */
export const MessageView = z.strictObject({
  message_id: z.string(),
  session_id: z.string(),
  from: text,
  mode: z.enum(['sequential', 'important', 'urgent']),
  state: z.enum(['queued', 'pasted', 'submitted', 'injected', 'accepted', 'answered', 'failed']),
  preview: z.string(),
  detail: text,
  queued_at: z.string(),
  accepted_at: Time,
  failed_at: Time,
})
export type MessageView = z.infer<typeof MessageView>

/** A git work tree of its own, with its branch and the commit it began at. */
const WorktreeView = z.strictObject({ path: z.string(), branch: z.string(), base: z.string() })

/** Something that looks wrong with a session, and what shows it. */
const Alert = z.strictObject({
  kind: z.enum(['failing', 'no_progress', 'runaway', 'undelivered', 'held']),
  evidence: z.string(),
})

/** A session as every list and page shows it: document 3's Session by name, and what we know beyond it. */
export const SessionView = z.strictObject({
  /** The eight hex digits people use; `id` is the whole one. */
  session_id: z.string(),
  /** Of an agent that works inside of a session its run. */
  id: z.union([SessionId, RunId]),
  /** The session that an agent works in; null for a session. */
  inside_session_id: text,
  name: z.string(),
  friendly_name: text,
  agent_type: text,
  cli: text,
  cli_version: text,
  model: text,
  origin: text,
  status: Lifecycle,
  activity: Activity.nullable(),
  health: SessionHealth,
  /** Why it stands as it does, in a few words. */
  detail: text,
  waiting_for: z
    .enum(['permission', 'question', 'plan', 'dialog', 'background', 'limit', 'approval'])
    .nullable(),
  limited_until: Time,
  current_task: text,
  /** The phase that a workflow is in. */
  phase: text,
  lock: text,
  parent_session_id: text,
  depth: Count,
  children: Count,
  /** Agents that work inside of it: subagents, members of a crew, agents of a script. */
  running_agents: Count,
  ended_agents: Count,
  working_dir: text,
  worktree: WorktreeView.nullable(),
  permission_mode: PermissionMode.nullable(),
  tmux_session: text,
  tmux_socket: text,
  is_alive: z.boolean(),
  attached: Count,
  spawn_prompt: text,
  created_at: z.string(),
  spawned_at: Time,
  completed_at: Time,
  last_activity_at: z.string(),
  /** How it ended; `failed` and `rejected` are of workflows. */
  completion_status: z
    .enum(['completed', 'error', 'abandoned', 'killed', 'cancelled', ...WorkflowFailure.options])
    .nullable(),
  completion_message: text,
  tokens_used: Count,
  billing: Billing.nullable(),
  cost_usd: amount,
  ...costBasis,
  /** Tokens and money of the session and all below it. */
  subtree_tokens: Count,
  subtree_cost_usd: amount,
  subtree_cost_is_estimate: z.boolean(),
  budget: Budget.nullable(),
  context_percent: amount,
  total_tools: Count,
  pending_approvals: Count,
  queued_messages: Count,
  /** What the first of them waits for. */
  queued_reason: text,
  last_checkpoint: text,
  /** What looks wrong with it, each with its evidence. */
  alerts: z.array(Alert),
})
export type SessionView = z.infer<typeof SessionView>

/** One session with everything that belongs to it. */
export const SessionDetail = z.strictObject({
  ...SessionView.shape,
  tools_used: z.record(z.string(), Count),
  checkpoints: z.array(CheckpointView),
})
export type SessionDetail = z.infer<typeof SessionDetail>

/** What `sm spawn` answers. */
export const SpawnedView = z.strictObject({
  session_id: z.string(),
  id: SessionId,
  name: z.string(),
  friendly_name: text,
  agent_type: text,
  cli: z.string(),
  model: text,
  permission_mode: PermissionMode,
  isolation: Isolation,
  working_dir: z.string(),
  worktree: WorktreeView.nullable(),
  parent_session_id: text,
  tmux_session: z.string(),
  attach: z.string(),
  created_at: z.string(),
  warnings: z.array(z.string()),
  /** Set for `--dry-run`: nothing was started. */
  dry_run: z.strictObject({ argv: z.array(z.string()), environment: z.array(z.string()) }).nullable(),
})
export type SpawnedView = z.infer<typeof SpawnedView>

/** How far a session is, under the names document 3 gives it. */
export const ProgressView = z.strictObject({
  session_id: z.string(),
  name: z.string(),
  friendly_name: text,
  status: z.string(),
  elapsed_seconds: Count,
  tokens_used: Count,
  tokens_remaining_estimate: amount,
  completion_percentage: amount,
  /** What the estimate rests on; without a basis there is none. */
  estimate_basis: text,
  tools_used: z.record(z.string(), Count),
  total_tools: Count,
  last_tool: z
    .strictObject({
      name: z.string(),
      args: z.record(z.string(), z.unknown()),
      timestamp: z.string(),
      seconds_ago: Count,
    })
    .nullable(),
  current_activity: text,
  checkpoints: z.array(CheckpointView),
  is_idle: z.boolean(),
  idle_seconds: Count,
  is_waiting_input: z.boolean(),
  is_complete: z.boolean(),
  context_percent: amount,
  cost_usd: amount,
  ...costBasis,
  /** Model calls that its CLI does not report: they are in no figure. */
  not_counted: text,
  queued_messages: Count,
  queued_reason: text,
  /** Agents inside of it that are at work, and how many have ended. */
  agents: z.array(
    z.strictObject({
      session_id: z.string(),
      name: z.string(),
      agent_type: text,
      status: Lifecycle,
      tokens_used: Count,
      current_activity: text,
      current_task: text,
    }),
  ),
  ended_agents: Count,
  alerts: z.array(Alert),
})
export type ProgressView = z.infer<typeof ProgressView>

/** The figures of progress in the three groups of document 3. */
export const MetricsView = z.strictObject({
  tokens: ProgressView.pick({
    tokens_used: true,
    tokens_remaining_estimate: true,
    completion_percentage: true,
    estimate_basis: true,
    cost_usd: true,
    cost_is_estimate: true,
    cost_basis: true,
    not_counted: true,
  }),
  tools: ProgressView.pick({ tools_used: true, total_tools: true, last_tool: true }),
  activity: ProgressView.pick({
    status: true,
    current_activity: true,
    is_idle: true,
    idle_seconds: true,
    is_waiting_input: true,
    is_complete: true,
  }),
})
export type MetricsView = z.infer<typeof MetricsView>

/** Why a session is thought to be in its state. */
export const ExplanationView = z.strictObject({
  session_id: z.string(),
  name: z.string(),
  status: z.string(),
  activity: text,
  health: SessionHealth,
  waiting_for: text,
  expires_in_ms: amount,
  signals: z.array(
    z.strictObject({
      signal: z.string(),
      source: z.string(),
      age_ms: z.number(),
      weight: z.number(),
      says: z.string(),
      counted: z.boolean(),
    }),
  ),
  would_change: z.array(z.string()),
})
export type ExplanationView = z.infer<typeof ExplanationView>

/** A process of a session. */
export const ProcessView = z.strictObject({
  session_id: z.string(),
  name: z.string(),
  pid: Count,
  command: z.string(),
  rss_bytes: Count,
  cpu_ms: Count,
  started_at: z.string(),
  is_orphan: z.boolean(),
  /** Nothing proves that it is of this session: it began while that ran, in its folder, and left whoever started it. */
  is_suspect: z.boolean(),
})
export type ProcessView = z.infer<typeof ProcessView>

/** A process that may be of a session that was ended; only a person can say. */
export const SuspectView = ProcessView.pick({ pid: true, command: true })
export type SuspectView = z.infer<typeof SuspectView>

/** What became of a session after a restart of the daemon, the terminals or the machine. */
export const RestoredView = z.strictObject({
  session_id: z.string(),
  name: z.string(),
  result: z.enum(['running', 'restored', 'needs you', 'gone']),
  why: z.string(),
})
export type RestoredView = z.infer<typeof RestoredView>

/** A session that somebody is about to end, and what would be cut off with it. */
export const UnsavedView = z.strictObject({ session: SessionView, unsaved: z.array(z.string()) })
export type UnsavedView = z.infer<typeof UnsavedView>

/** What people may call a session: nothing that a shell, a path or tmux would read as more than a name. */
export const SessionName = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, 'a name has 1 to 64 letters, digits, - or _')

/** How a spawn is asked for. */
export const SpawnRequest = z.strictObject({
  agent_type: z.string().min(1).max(64),
  prompt: z.string().max(1024 * 1024),
  /** A known CLI, or a program of the settings by its name there. */
  cli: GivenName.optional(),
  model: z.string().min(1).max(200).optional(),
  args: z.array(z.string().max(4096)).max(64).optional(),
  preset: z.string().min(1).max(64).optional(),
  parent: z.string().min(1).max(200).optional(),
  working_dir: z.string().min(1).max(4096).optional(),
  name: SessionName.optional(),
  permission_mode: PermissionMode.optional(),
  mode: z.enum(['auto', 'manual', 'supervised']).optional(),
  /** A git work tree of its own; the text names its branch, empty lets one be made up. */
  worktree: z.string().max(200).optional(),
  budget: Budget.optional(),
  isolation: Isolation.optional(),
  /** The caller's environment; only what is on the allow-list is taken from it. */
  environment: z.record(z.string().max(256), z.string().max(128 * 1024)).optional(),
  dry_run: z.boolean().optional(),
})
export type SpawnRequest = z.infer<typeof SpawnRequest>
