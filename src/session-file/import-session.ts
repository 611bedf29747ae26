import type { ImportIds } from '../contract/derived-ids.ts'
import type { Draft } from '../contract/event.ts'
import type { AgentSession, PhaseAnnotation } from '../contract/session-file/agent-session.ts'
import type {
  AgentIdentifier,
  AgentMessage,
  MultiAgentSession,
} from '../contract/session-file/multi-agent-session.ts'
import { compact, isRecord, type JsonRecord } from '../core/json/json-value.ts'
import { draft, inNestedOrder, line, millis, type Run, rawFor, recorded, type Timed } from './drafting.ts'
import { callEvents, type RunSpan, subSessionEvents } from './import-sub-sessions.ts'
import { hasCollaboration } from './multi-agent.ts'
import { annotationFrom, headFrom, messageFrom } from './records-from-events.ts'

/**
 * The events of a session file, in an order in which causes come before effects. Everything the file holds is in
 * them: what our words have no name for stands in `raw`, and the export puts it back.
 */
export function eventsFromSession(session: AgentSession | MultiAgentSession, ids: ImportIds): Draft[] {
  const main: Run = {
    key: 'main',
    runId: ids.run('main'),
    spanId: ids.span('main'),
    actor: (hasCollaboration(session) && line(session.collaboration.orchestrator.agent_id)) || 'main',
  }
  const notBefore = millis(session.created_at)
  const place = { run: main, notBefore }
  const calls = session.tool_calls.flatMap((call, index) => callEvents(call, { ...place, index }, ids))
  const together = hasCollaboration(session) ? collaborationEvents(session, main, ids) : []
  const body: Timed[] = [...calls, ...together]
  const last = body.reduce((latest, { sortAt }) => Math.max(latest, sortAt), notBefore)
  session.phase_annotations?.forEach((annotation, index) => {
    body.push({ draft: annotationEvent(annotation, { run: main, index }, ids), sortAt: last })
  })
  const inOrder = inNestedOrder(body).map((timed) => timed.draft)
  return [
    sessionStart(session, main, ids),
    ...inOrder,
    sessionSummary(session, main, ids),
    ...sessionEnd(session, main, ids),
  ]
}

function collaborationEvents(session: MultiAgentSession, main: Run, ids: ImportIds): Timed[] {
  const { runs, events } = subSessionEvents(session, main, ids)
  return [...events, ...messageEvents(session, { main, runs, notBefore: millis(session.created_at) }, ids)]
}

type Session = AgentSession | MultiAgentSession
const lists = ['tool_calls', 'sub_sessions', 'messages', 'phase_annotations'] as const

/** The event that opens an imported session and carries everything of it that is no list. */
export function sessionStart(session: Session, run: Run, ids: ImportIds): Draft {
  const payload = {
    title: line(session.task_title),
    prompt: session.user_prompt,
    model: line(session.agent.model_id),
    origin: 'imported' as const,
    foreignId: line(session.session_id),
    ...compact({
      description: session.task_description,
      capabilitySnapshot: session.agent.capability_snapshot && line(session.agent.capability_snapshot),
      agent: hasCollaboration(session) ? agentOf(session.collaboration.orchestrator) : undefined,
      collaboration: hasCollaboration(session) ? collaborationOf(session) : undefined,
    }),
  }
  const format = hasCollaboration(session) ? 'std-008' : 'std-001'
  const bare = recorded('session.started', session.created_at, payload)
  const raw = rawFor(headOnly(session), headFrom(bare, endOf(session)), { format })
  const event = recorded('session.started', session.created_at, { ...payload, raw })
  return draft(event, { run, key: 'session/started' }, ids)
}

/** The declared figures of a session, whole. */
export function sessionSummary(session: Session, run: Run, ids: ImportIds): Draft {
  const { summary } = session
  const short = (paths: readonly string[]) => paths.filter((path) => path.length <= 4096)
  const payload = {
    totalDurationMs: summary.total_duration_ms,
    toolCallsCount: summary.tool_calls_count,
    filesCreated: short(summary.files_created),
    filesModified: short(summary.files_modified),
    declared: summary as unknown as JsonRecord,
    ...compact({ errorsEncountered: summary.errors_encountered, summary: summary.text }),
  }
  const event = recorded('result.summary', endTime(session), payload)
  return draft(event, { run, key: 'session/summary' }, ids)
}

/** The event that closes an imported session, when it has ended. */
export function sessionEnd(session: Session, run: Run, ids: ImportIds): Draft[] {
  const ended = endOf(session)
  return ended ? [draft(ended, { run, key: 'session/ended' }, ids)] : []
}

/** A session without its lists and summary; a list that is there is there as an empty one. */
export function headOnly(session: Session): JsonRecord {
  const { summary: _summary, ...head } = session as unknown as JsonRecord
  for (const key of lists) if (Array.isArray(head[key])) head[key] = []
  return head
}

function endOf(session: Session) {
  if (session.status === 'in_progress') return undefined
  if (session.status === 'success')
    return recorded('session.completed', endTime(session), { outcome: 'completed' })
  const reason = session.termination_reason === undefined ? undefined : line(session.termination_reason)
  return recorded('session.failed', endTime(session), compact({ reason }))
}

function endTime(session: Session): string {
  return session.completed_at ?? session.tool_calls.at(-1)?.ended_at ?? session.created_at
}

function collaborationOf({ collaboration }: MultiAgentSession) {
  const { original_pattern } = collaboration
  const isConsensus = isRecord(collaboration) && original_pattern === 'consensus'
  return {
    mode: collaboration.mode,
    pattern: isConsensus ? ('consensus' as const) : collaboration.pattern,
    orchestrator: agentOf(collaboration.orchestrator),
    participants: collaboration.participants.map(agentOf),
  }
}

type Context = { readonly main: Run; readonly runs: ReadonlyMap<string, RunSpan>; readonly notBefore: number }

/** One event for each message, in the run of its sender while that lasts, else in the session's own. */
export function messageEvents(
  { messages }: MultiAgentSession,
  { main, runs, notBefore }: Context,
  ids: ImportIds,
): Timed[] {
  return messages.map((message, index) => {
    const sortAt = Math.max(notBefore, millis(message.timestamp))
    const sender = runs.get(message.from_agent.agent_id)
    const run = sender && sender.from <= sortAt && sortAt <= sender.to ? sender.run : main
    const payload = payloadOf(message)
    const bare = recorded('agent.message.created', message.timestamp, payload)
    const raw = rawFor(message, messageFrom(bare), { index })
    const event = recorded('agent.message.created', message.timestamp, { ...payload, raw })
    return { draft: draft(event, { run, key: `message/${index}` }, ids), sortAt }
  })
}

/** An agent of a file as events name it. */
export const agentOf = (agent: AgentIdentifier) => ({
  agentId: line(agent.agent_id),
  agentType: line(agent.original_agent_type ?? agent.agent_type),
  ...compact({ instanceId: agent.instance_id === undefined ? undefined : line(agent.instance_id) }),
})

const payloadOf = (message: AgentMessage) => ({
  messageId: line(message.message_id),
  sequenceNumber: message.sequence_number,
  from: agentOf(message.from_agent),
  to: agentOf(message.to_agent),
  messageType: message.message_type,
  payload: message.payload,
  ...compact({
    correlationId: message.correlation_id === undefined ? undefined : line(message.correlation_id),
    replyTo: message.reply_to === undefined ? undefined : line(message.reply_to),
  }),
})

type Place = { readonly run: Run; readonly index: number }

/** The event of one annotation. */
export function annotationEvent(annotation: PhaseAnnotation, { run, index }: Place, ids: ImportIds): Draft {
  const payload = {
    annotationId: line(annotation.annotation_id),
    phaseType: annotation.phase_type,
    startCallId: line(annotation.tool_call_range.start_call_id),
    endCallId: line(annotation.tool_call_range.end_call_id),
    annotatedBy: annotation.annotated_by,
    annotatedAt: line(annotation.annotated_at),
    confidence: annotation.confidence,
    ...compact({
      description: annotation.description,
      decisions: annotation.decisions,
      contextUsed: annotation.context_used,
    }),
  }
  const bare = recorded('session.annotated', annotation.annotated_at, payload)
  const raw = rawFor(annotation, annotationFrom(bare), { index })
  const event = recorded('session.annotated', annotation.annotated_at, { ...payload, raw })
  return draft(event, { run, key: `annotation/${index}` }, ids)
}
