import type { AgentSession, SessionSummary, ToolCall } from '../contract/session-file/agent-session.ts'
import {
  delegationTools,
  type MultiAgentSession,
  type SubAgentSession,
} from '../contract/session-file/multi-agent-session.ts'
import { millisOf } from '../core/json/iso-time.ts'
import { compact } from '../core/json/json-value.ts'
import { filesChangedBy, foldEffects } from './changed-files.ts'
import type { Collected } from './collect.ts'
import { isReview } from './figures.ts'
import { sessionStem } from './file-name.ts'
import { extendedSummary } from './multi-agent.ts'
import { isWorkflow } from './owners.ts'
import { autoAnnotations } from './phase-groups.ts'
import { annotationFrom, collaborationFrom, headFrom } from './record-events.ts'
import { recordedMessages } from './recorded-messages.ts'
import { type FileAgents, fileAgents, recordedSubs } from './recorded-subs.ts'
import { linkDelegations } from './repair-links.ts'
import { indexSession, mayHaveStarted, triggerOf } from './session-walk.ts'

/** The file of a session that Muster recorded itself. */
export function recordedDocument(found: Collected, sequence: number): AgentSession | MultiAgentSession {
  const agents = fileAgents(found)
  const head = headOf(found)
  const stem = (isMulti: boolean) =>
    sessionStem({ createdAt: head.created_at, sequence, title: head.task_title, isMulti })
  const { calls, subs } = recordedSubs(found, agents, stem(true))
  const list = [...subs.values()]
  const delegations = [...calls, ...list.flatMap((sub) => sub.tool_calls)].filter((call) => delegates(call))
  const isReviewed = list.some(isReview) || found.rounds.length > 0 || found.claims.length > 0
  const isCertain = isReviewed || isWorkflow(found.root)
  const isTogether = delegations.length > 1 || (isCertain && list.length > 0)
  if (!isTogether)
    return single(
      { ...head, session_id: stem(false), tool_calls: calls },
      { found, list, treeId: stem(true) },
    )
  const { collaboration: _declared, ...base } = head
  const session = {
    ...base,
    session_id: stem(true),
    collaboration: collaborationOf(found, agents),
    tool_calls: calls,
    sub_sessions: list,
    messages: recordedMessages(found, { agents, subs }),
  } as MultiAgentSession
  linkDelegations(session, () => {})
  nestTimes(session, list.toReversed())
  annotate(session, found)
  session.summary = { ...summaryOf(session, { found, list }), ...withRounds(extendedSummary(session), found) }
  return session
}

const delegates = (call: ToolCall): boolean => delegationTools.has(call.tool_name) && mayHaveStarted(call)

type Work = { readonly found: Collected; readonly list: readonly SubAgentSession[] }

/** A session of one agent, or of one that delegated once: subagent_info has what its sub-agent did. */
function single(
  head: Omit<AgentSession, 'summary'> & { collaboration?: unknown },
  work: Work & { readonly treeId: string },
): AgentSession {
  const { collaboration: _unused, ...base } = head
  const session = base as AgentSession
  const tree = { ...session, session_id: work.treeId, sub_sessions: [...work.list] }
  nestTimes(tree as unknown as MultiAgentSession, work.list.toReversed())
  session.tool_calls = session.tool_calls.map((call) => {
    if (!call.subagent_info) return call
    const { sub_session_id: _link, ...info } = call.subagent_info
    return { ...call, subagent_info: info }
  })
  nestCalls(session)
  annotate(session, work.found)
  session.summary = summaryOf(session, work)
  return session
}

function headOf(found: Collected) {
  const { started, spawned, ended, model } = found.root
  const timestamp = started?.event.timestamp ?? (found.firstAt || '1970-01-01T00:00:00.000Z')
  const payload = started?.event.payload ?? {}
  // A session that was begun without a prompt is about what it was asked first.
  const prompt = payload.prompt ?? spawned?.event.payload.agentTask
  const head = headFrom({ type: 'session.started', timestamp, payload: { ...payload, prompt } }, ended?.event)
  return started?.event.payload.model || !model
    ? head
    : { ...head, agent: { ...head.agent, model_id: model } }
}

function collaborationOf(found: Collected, { orchestrator, participants }: FileAgents) {
  const declared = found.root.started?.event.payload.collaboration
  const { pattern, original_pattern } = declared
    ? collaborationFrom(declared)
    : { pattern: 'master_worker' as const, original_pattern: undefined }
  return compact({ mode: 'multi_agent' as const, pattern, orchestrator, participants, original_pattern })
}

function annotate(session: AgentSession, found: Collected): void {
  const given = found.annotations.map(annotationFrom)
  if (given.length > 0) session.phase_annotations = given
  const made = autoAnnotations(session, session.completed_at ?? found.lastAt)
  if (made.length > 0) session.phase_annotations = [...given, ...made]
}

/** The base figures, from the calls and patches of everyone. */
function summaryOf(session: AgentSession, { found, list }: Work): SessionSummary {
  const effects = [found.root, ...found.subs].flatMap((owner) => owner.effects)
  const calls = [...session.tool_calls, ...list.flatMap((sub) => sub.tool_calls)]
  const files = effects.length > 0 ? foldEffects(effects) : filesChangedBy(calls)
  const end = session.completed_at ?? found.lastAt
  return {
    total_duration_ms: Math.max(0, millisOf(end || session.created_at) - millisOf(session.created_at)),
    tool_calls_count: session.tool_calls.length,
    files_created: files.created,
    files_modified: files.modified,
    errors_encountered: found.errors,
  }
}

/** The review loop's own rounds are the truth; without them the outputs of reviewers are counted. */
function withRounds(extended: ReturnType<typeof extendedSummary>, { root, rounds }: Collected) {
  if (rounds.length === 0 || isWorkflow(root)) return extended
  const last = rounds.findLast((round) => round.payload.verdict !== undefined)?.payload.verdict
  if (last === undefined) return { ...extended, review_iterations: rounds.length }
  const isFinal = last !== 'changes_requested'
  return compact({
    ...extended,
    review_iterations: rounds.length,
    final_verdict: isFinal ? last : undefined,
    last_verdict: isFinal ? undefined : last,
  })
}

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
