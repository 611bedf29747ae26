import { type SessionId, shortId } from '../../contract/ids.ts'
import type { SessionRow, UsageRow } from '../../contract/index-rows.ts'
import type { SessionView } from '../../contract/session-views.ts'
import { costView, isEstimate } from '../ledger/cost-view.ts'
import { waitOf } from './agent-view.ts'
import type { WaitingFor } from './evidence/conclude.ts'
import { type Evidence, timeOf } from './evidence/evidence.ts'
import type { Verdict } from './evidence/verdict.ts'
import type { Managed } from './managed.ts'
import type { TypicalUsage } from './progress-view.ts'
import { hasEnded, type SessionState } from './state.ts'

/** What is known of a session beside its row: only of those that are open or still run. */
type Beside = {
  readonly state?: Readonly<SessionState> | undefined
  readonly verdict?: Verdict | undefined
  readonly evidence?: Evidence | undefined
  readonly attached?: number | undefined
  readonly children: number
  /** The agents inside of it; nothing when there are none. */
  readonly agents?: { readonly running: number; readonly ended: number } | undefined
  /** What sessions of its kind usually take. */
  readonly typical?: TypicalUsage | undefined
  readonly subtree?: (Pick<UsageRow, 'costUsd' | 'estimatedUsd'> & { readonly tokens: number }) | undefined
  /** What the first message of its queue waits for. */
  readonly held?: string | undefined
  readonly now: number
}

const ends = ['completed', 'error', 'abandoned', 'killed', 'cancelled'] as const
const iso = (ms: number): string => new Date(ms).toISOString()

const waits: Readonly<Record<WaitingFor, SessionView['waiting_for']>> = {
  permission: 'permission',
  question: 'question',
  plan: 'plan',
  dialog: 'dialog',
  background: 'background',
  limit: 'limit',
}

/** A session under the names people and scripts know. */
export function sessionView(row: SessionRow, beside: Beside): SessionView {
  const { state, verdict } = beside
  const managed = state?.managed
  // Memory knows of an end before the disk does; it is shown when the row can say why.
  const isAhead = state !== undefined && hasEnded(state) && row.endedMs === null
  const recorded = (isAhead ? row.lifecycle : (state?.lifecycle ?? row.lifecycle)) ?? 'running'
  const isLost = isWithoutProgram(beside)
  const lifecycle = isLost ? 'error' : recorded
  const isEnded = ends.some((end) => end === lifecycle)
  const asks = state?.asks?.length ?? 0
  const isBuiltIn = managed?.origin === 'runtime' || managed?.origin === 'workflow'
  // Of built-in agents nothing is guessed: one that asks waits.
  const status = isBuiltIn && asks > 0 && lifecycle === 'running' ? 'waiting_input' : lifecycle
  const tokens = row.tokens ?? 0
  const shown = shownNow(lifecycle, verdict)
  const waiting = isEnded || !shown.waitingFor ? null : waits[shown.waitingFor]
  return {
    session_id: row.shortId,
    id: row.sessionId,
    inside_session_id: null,
    name: row.name ?? row.shortId,
    friendly_name: row.friendlyName,
    agent_type: row.agentType,
    cli: row.cli,
    cli_version: managed?.cliVersion ?? null,
    model: managed?.model ?? row.model,
    origin: row.origin,
    status,
    activity: isEnded ? null : (shown.activity ?? row.activity),
    health: shown.health ?? (isBuiltIn && !isEnded ? 'ok' : 'unknown'),
    detail: isLost ? broughtBack : row.detail,
    waiting_for:
      waiting ?? (asks > 0 && !isEnded ? (isBuiltIn ? waitOf(state?.asks?.[0]?.subject) : 'approval') : null),
    limited_until: verdict?.waitingUntil === undefined ? null : iso(verdict.waitingUntil),
    current_task: row.task,
    phase: isEnded ? null : phaseOf(state),
    lock: managed?.lock ?? null,
    parent_session_id: row.parentId === null ? null : shortId(row.parentId as SessionId),
    depth: state?.depth ?? row.depth ?? 0,
    children: beside.children,
    running_agents: beside.agents?.running ?? 0,
    ended_agents: beside.agents?.ended ?? 0,
    working_dir: row.workingDir,
    worktree: managed?.worktree ?? null,
    permission_mode: (row.permissionMode as SessionView['permission_mode']) ?? null,
    tmux_session: row.tmuxSession,
    tmux_socket: managed?.place?.socket ?? null,
    is_alive: isBuiltIn ? !isEnded : isAlive(managed, beside),
    attached: beside.attached ?? 0,
    spawn_prompt: row.prompt,
    created_at: iso(row.startedMs ?? row.firstMs),
    spawned_at: row.origin === 'managed' ? iso(row.startedMs ?? row.firstMs) : null,
    completed_at: row.endedMs === null ? null : iso(row.endedMs),
    last_activity_at: iso(lastActivity(row, beside.evidence)),
    completion_status: isLost
      ? null
      : ((isEnded ? row.outcome : null) ?? ends.find((end) => end === status) ?? null),
    completion_message: isLost ? broughtBack : isEnded ? (row.completion ?? row.detail) : null,
    tokens_used: tokens,
    ...costView(row, managed?.model ?? row.model),
    subtree_tokens: beside.subtree?.tokens ?? tokens,
    subtree_cost_usd: beside.subtree?.costUsd ?? row.costUsd,
    subtree_cost_is_estimate: isEstimate(beside.subtree ?? row),
    budget: managed?.budget ?? null,
    context_percent: beside.evidence?.last.meter?.contextPercent ?? null,
    total_tools: row.toolCompleted + row.toolFailed,
    pending_approvals: isEnded ? 0 : asks,
    queued_messages: isEnded ? 0 : (state?.queue?.length ?? 0),
    queued_reason: isEnded ? null : (beside.held ?? null),
    last_checkpoint: row.milestone,
    alerts: isEnded ? [] : [...messageAlerts(beside), ...alertsOf({ ...beside, tokens })],
  }
}

/**
 * What is known of a session beside its lifecycle. Of one that was at work or at rest before this daemon and that nothing
 * was seen of since, only its lifecycle is known.
 */
export function shownNow(
  lifecycle: SessionView['status'],
  verdict: Verdict | undefined,
): Partial<Pick<Verdict, 'activity' | 'waitingFor' | 'health'>> {
  if (!verdict) return {}
  const isUnseen = verdict.lifecycle === 'starting' && lifecycle !== 'starting' && lifecycle !== 'spawned'
  if (isUnseen) return { health: 'stale' }
  const { activity, waitingFor, health } = verdict
  return { activity, health, ...(waitingFor && { waitingFor }) }
}

const broughtBack = 'its terminal is gone; bring it back with: sm restore'

/**
 * Its terminal is gone and nobody ended it: it can come back, and is not shown as what it was while it lived. A program
 * that ended by itself in its terminal left a code, and the end that follows from it is about to be written.
 */
function isWithoutProgram({ state, verdict, evidence }: Beside): boolean {
  const { code, signal } = evidence?.last.exited ?? {}
  const isGone = verdict?.lifecycle === 'error' && code === undefined && signal === undefined
  return isGone && state?.managed?.place !== undefined && !hasEnded(state)
}

/** The phase of the workflow that a session is for: those that it called have phases of their own. */
function phaseOf(state: Readonly<SessionState> | undefined): string | null {
  const open = [...(state?.open.values() ?? [])]
  const workflowId = open.find(({ kind }) => kind === 'workflow')?.workflowId
  const phase = open.findLast((span) => span.kind === 'phase' && span.workflowId === workflowId)
  return phase?.phase ?? null
}

function isAlive(managed: Managed | undefined, { verdict, evidence }: Beside): boolean {
  if (managed?.place === undefined && managed?.origin !== 'observed') return false
  return verdict !== undefined && !hasExited(evidence)
}

const hasExited = (evidence: Evidence | undefined): boolean => evidence?.last.exited !== undefined

/** The newest sign of work; looking at a screen is none. */
function lastActivity(row: SessionRow, evidence: Evidence | undefined): number {
  const marks = evidence?.last
  const signs = [marks?.prompt, marks?.text, marks?.['tool-start'], marks?.['tool-end'], marks?.['turn-end']]
  return Math.max(row.lastMs, ...signs.map((mark) => mark?.at ?? 0))
}

type Alert = SessionView['alerts'][number]

/** What an alert is made of; only a session that has not ended can raise one. */
type AlertParts = Pick<Beside, 'verdict' | 'evidence' | 'typical'> & { readonly tokens: number }

const sameFailures = 3
const runawayTimes = 3

/** A message that an idle agent has not taken for so long needs somebody. */
const heldMs = 60_000

/** Messages to a terminal that were lost, or that nothing but a person can help on. */
function messageAlerts({ state, verdict, held, now }: Beside): Alert[] {
  if (!state?.managed?.place) return []
  const { dead = [] } = state.messageEnds ?? {}
  const last = dead.at(-1)
  const [first] = state.queue ?? []
  const isAtRest = verdict?.lifecycle === 'idle' || verdict?.lifecycle === 'failed'
  const since = first && Math.max(first.queuedAtMs, verdict?.since ?? now)
  const isHeld = isAtRest && held !== undefined && since !== undefined && now - since > heldMs
  return [
    ...(last
      ? [{ kind: 'undelivered' as const, evidence: `${dead.length} not delivered; the last: ${last.reason}` }]
      : []),
    ...(isHeld ? [{ kind: 'held' as const, evidence: held }] : []),
  ]
}

/** What looks wrong with a session, each with its evidence. */
function alertsOf({ verdict, evidence, tokens, typical }: AlertParts): Alert[] {
  const failing = evidence && failingCall(evidence)
  const isRunaway = typical !== undefined && tokens > typical.tokens * runawayTimes
  return [
    ...(failing ? [failing] : []),
    ...(verdict?.health === 'stuck'
      ? [{ kind: 'no_progress' as const, evidence: verdict.because[0]?.says ?? 'no progress' }]
      : []),
    ...(isRunaway
      ? [{ kind: 'runaway' as const, evidence: `${tokens} tokens; ${typical.basis} took ${typical.tokens}` }]
      : []),
  ]
}

/** The same call, failed several times in a row. */
function failingCall({ calls }: Evidence): Alert | undefined {
  const ended = calls
    .filter(({ end, agent }) => end !== undefined && agent === undefined)
    .toSorted((a, b) => timeOf(b.end) - timeOf(a.end))
  const [last] = ended
  let count = 0
  for (const { tool, inputHash, isFailed } of ended) {
    if (!isFailed || tool !== last?.tool || inputHash !== last?.inputHash) break
    count += 1
  }
  if (count < sameFailures) return undefined
  return {
    kind: 'failing',
    evidence: `${last?.tool ?? 'a tool'} failed ${count} times in a row with the same input`,
  }
}
