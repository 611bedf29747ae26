import type { AgentSession, SessionSummary } from '../../../contract/formats/std-001/session.ts'
import type { ToolCall } from '../../../contract/formats/std-001/tool-call.ts'
import { delegationTools } from '../../../contract/formats/std-008/delegation.ts'
import type { MultiAgentSession } from '../../../contract/formats/std-008/session.ts'
import type { SubAgentSession } from '../../../contract/formats/std-008/sub-session.ts'
import { filesChangedBy, foldEffects } from '../changed-files.ts'
import { extendedSummary } from '../extended-summary.ts'
import { isReview } from '../figures.ts'
import { sessionStem } from '../filename.ts'
import { millisOf } from '../json/time.ts'
import { compact } from '../json/value.ts'
import { mendDelegations } from '../links/delegations.ts'
import { annotationFrom } from '../rebuild/annotation.ts'
import { collaborationFrom, headFrom } from '../rebuild/head.ts'
import { type FileAgents, fileAgents } from './agents.ts'
import { autoAnnotations } from './auto-annotations.ts'
import type { Collected } from './collect.ts'
import { nestCalls, nestTimes } from './nest-times.ts'
import { isWorkflow } from './owners.ts'
import { recordedMessages } from './recorded-messages.ts'
import { recordedSubs } from './recorded-subs.ts'

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
  mendDelegations(session, () => {})
  nestTimes(session, list.toReversed())
  annotate(session, found)
  session.summary = { ...summaryOf(session, { found, list }), ...withRounds(extendedSummary(session), found) }
  return session
}

const delegates = ({ tool_name }: ToolCall): boolean => delegationTools.has(tool_name)

type Work = { readonly found: Collected; readonly list: readonly SubAgentSession[] }

/** A session of one agent, or of one that delegated once: what its sub-agent did stands in subagent_info. */
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
  const { started, ended, model } = found.root
  const first = started?.event ?? {
    type: 'session.started' as const,
    timestamp: found.firstAt || '1970-01-01T00:00:00.000Z',
    payload: {},
  }
  const head = headFrom(first, ended?.event)
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

/** The review loop's own rounds are the truth; a reviewer's outputs stand in where it recorded none. */
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
