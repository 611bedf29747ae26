import type { ImportIds } from '../contract/derived-ids.ts'
import type { Draft } from '../contract/event.ts'
import type { AgentSession, PhaseAnnotation, SessionStatus } from '../contract/session-file/agent-session.ts'
import type {
  AgentIdentifier,
  AgentMessage,
  CollaborationInfo,
  MultiAgentSession,
  SubAgentSession,
} from '../contract/session-file/multi-agent-session.ts'
import type { Agent } from '../contract/values.ts'
import { isIsoTime } from '../core/json/iso-time.ts'
import { compact, type JsonRecord } from '../core/json/json-value.ts'
import { fileAgentType } from './agent-types.ts'
import {
  draft,
  line,
  optionalLine,
  optionalTextOf,
  type Recorded,
  type Run,
  recorded,
  textOf,
  withRaw,
} from './event-records.ts'
import { hasCollaboration } from './multi-agent.ts'

// Each record of a file and its event, both ways: what the first direction cuts or has no field for stays in `raw`.

type Session = AgentSession | MultiAgentSession
/** Whose record it is, and its place in its list. */
type Place = { readonly run: Run; readonly index: number }

/** The event that opens an imported session and carries everything of it that is no list. */
export function sessionStart(session: Session, run: Run, ids: ImportIds): Draft {
  const isTogether = hasCollaboration(session)
  const payload = {
    title: line(session.task_title),
    prompt: session.user_prompt,
    model: line(session.agent.model_id),
    origin: 'imported' as const,
    foreignId: line(session.session_id),
    ...compact({
      description: session.task_description,
      capabilitySnapshot: session.agent.capability_snapshot && line(session.agent.capability_snapshot),
      agent: isTogether ? agentOf(session.collaboration.orchestrator) : undefined,
      collaboration: isTogether ? collaborationOf(session) : undefined,
    }),
  }
  const event = withRaw(recorded('session.started', session.created_at, payload), {
    record: headOnly(session),
    rebuild: (started) => headFrom(started, sessionEndOf(session)),
    place: { format: isTogether ? 'std-008' : 'std-001' },
  })
  return draft(event, { run, key: 'session/started' }, ids)
}

/** A session as a file has it, without calls, sub-sessions, messages and summary. */
export function headFrom(
  { payload, timestamp }: Recorded<'session.started'>,
  ended: EndEvent | undefined,
): Omit<AgentSession, 'summary'> & { collaboration?: CollaborationInfo } {
  const prompt = optionalTextOf(payload.prompt) ?? ''
  return compact({
    session_id: payload.foreignId || 'unknown',
    task_title: payload.title || titleOf(prompt) || payload.name || 'untitled session',
    task_description: optionalTextOf(payload.description),
    user_prompt: prompt,
    created_at: timestamp,
    ...endingOf(ended),
    agent: compact({ model_id: payload.model ?? 'unknown', capability_snapshot: payload.capabilitySnapshot }),
    collaboration: payload.collaboration ? collaborationFrom(payload.collaboration) : undefined,
    tool_calls: [],
  })
}

/** What a session is about, by the first line of what was asked for. */
const titleOf = (prompt: string): string =>
  Array.from(prompt.trim().split('\n', 1)[0]?.trim() ?? '')
    .slice(0, 120)
    .join('')

/** A session without its lists and summary; a list that is there is there as an empty one. */
function headOnly(session: Session): JsonRecord {
  const { summary: _summary, ...head } = session as unknown as JsonRecord
  for (const key of ['tool_calls', 'sub_sessions', 'messages', 'phase_annotations'])
    if (Array.isArray(head[key])) head[key] = []
  return head
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
  return draft(recorded('result.summary', endTime(session), payload), { run, key: 'session/summary' }, ids)
}

/** The event that closes an imported session, when it has ended. */
export function sessionEnd(session: Session, run: Run, ids: ImportIds): Draft[] {
  const ended = sessionEndOf(session)
  return ended ? [draft(ended, { run, key: 'session/ended' }, ids)] : []
}

function sessionEndOf(session: Session) {
  if (session.status === 'in_progress') return undefined
  if (session.status === 'success')
    return recorded('session.completed', endTime(session), { outcome: 'completed' })
  const reason = optionalLine(session.termination_reason)
  return recorded('session.failed', endTime(session), compact({ reason }))
}

const endTime = (session: Session): string =>
  session.completed_at ?? session.tool_calls.at(-1)?.ended_at ?? session.created_at

/** Every event that ends a session or an agent. */
export type EndEvent = Recorded<
  | 'session.completed'
  | 'session.failed'
  | 'agent.completed'
  | 'agent.failed'
  | 'agent.cancelled'
  | 'agent.killed'
  | 'agent.abandoned'
>
export type Ending = {
  readonly status: SessionStatus
  readonly termination_reason?: string
  readonly completed_at?: string
}

/** How something ended in the file's words; termination_reason has what they do not say. */
export function endingOf(ended: EndEvent | undefined): Ending {
  if (!ended) return { status: 'in_progress' }
  const word = endWord(ended)
  const completed_at = ended.timestamp
  if (word === 'completed') return { status: 'success', completed_at }
  const { reason } = ended.payload
  return { status: 'failed', completed_at, termination_reason: reason ? `${word}: ${reason}` : word }
}

/** The lifecycle word of an end event: completed, error, cancelled, killed or abandoned. */
export function endWord(ended: EndEvent): string {
  if (ended.type === 'session.completed') return ended.payload.outcome
  if (ended.type === 'session.failed' || ended.type === 'agent.failed') return 'error'
  return ended.type.slice('agent.'.length)
}

/** The events that open and, when it has ended, close a sub-session. */
export function subSessionEvents(
  sub: SubAgentSession,
  { run, index }: Place,
  ids: ImportIds,
): [Draft, Draft?] {
  const { task } = sub
  const payload = {
    ...agentOf(sub.agent),
    kind: 'subagent' as const,
    agentTask: task.description,
    task: {
      taskId: line(task.task_id),
      description: task.description,
      priority: task.priority,
      ...compact({ dependencies: task.dependencies?.map(line) }),
    },
    triggeredByCallId: line(sub.triggered_by_call_id),
    foreignId: line(sub.sub_session_id),
    foreignParentId: line(sub.parent_session_id),
  }
  const ended = subSessionEnd(sub)
  const spawned = withRaw(recorded('agent.spawned', sub.started_at, payload), {
    record: { ...sub, tool_calls: [] },
    rebuild: (event) => subSessionFrom(event, ended),
    place: { index },
  })
  const start = draft(spawned, { run, key: `${run.key}/spawned` }, ids)
  return ended ? [start, draft(ended, { run, key: `${run.key}/ended` }, ids)] : [start]
}

function subSessionEnd(sub: SubAgentSession) {
  if (sub.status === 'in_progress') return undefined
  const time = sub.completed_at ?? sub.tool_calls.at(-1)?.ended_at ?? sub.started_at
  const payload = { agentId: line(sub.agent.agent_id), ...compact({ output: sub.output }) }
  if (sub.status === 'success') return recorded('agent.completed', time, payload)
  const reason = optionalLine(sub.termination_reason)
  return recorded('agent.failed', time, { ...payload, ...compact({ reason }) })
}

/** A sub-session as a file has it, without its calls. */
export function subSessionFrom(
  { payload, timestamp }: Recorded<'agent.spawned'>,
  ended: EndEvent | undefined,
): SubAgentSession {
  const { task } = payload
  const output = ended && 'output' in ended.payload ? ended.payload.output : undefined
  return compact({
    sub_session_id: payload.foreignId || 'unknown',
    parent_session_id: payload.foreignParentId || 'unknown',
    agent: identifierFrom(payload),
    triggered_by_call_id: payload.triggeredByCallId || 'unknown',
    task: compact({
      task_id: task?.taskId || 'unknown',
      description: textOf(task?.description ?? payload.agentTask ?? ''),
      priority: task?.priority ?? 'medium',
      dependencies: task?.dependencies,
    }),
    started_at: timestamp,
    ...endingOf(ended),
    tool_calls: [],
    output: output as SubAgentSession['output'],
  })
}

/** The event of one message. */
export function messageEvent(message: AgentMessage, { run, index }: Place, ids: ImportIds): Draft {
  const payload = {
    messageId: line(message.message_id),
    sequenceNumber: message.sequence_number,
    from: agentOf(message.from_agent),
    to: agentOf(message.to_agent),
    messageType: message.message_type,
    payload: message.payload,
    ...compact({
      correlationId: optionalLine(message.correlation_id),
      replyTo: optionalLine(message.reply_to),
    }),
  }
  const event = withRaw(recorded('agent.message.created', message.timestamp, payload), {
    record: message,
    rebuild: messageFrom,
    place: { index },
  })
  return draft(event, { run, key: `message/${index}` }, ids)
}

/** A message as a file has it; free text is guidance. */
export function messageFrom({ timestamp, payload }: Recorded<'agent.message.created'>): AgentMessage {
  return compact({
    message_id: payload.messageId || 'unknown',
    timestamp,
    sequence_number: payload.sequenceNumber ?? 0,
    from_agent: identifierFrom(payload.from),
    to_agent: identifierFrom(payload.to),
    message_type: payload.messageType ?? 'feedback',
    payload: payload.payload ?? (payload.text === undefined ? {} : guidance(textOf(payload.text))),
    correlation_id: payload.correlationId,
    reply_to: payload.replyTo,
  })
}

const guidance = (content: string) => ({
  feedback_type: 'guidance',
  subject: content.split('\n')[0]?.slice(0, 80) ?? '',
  content,
  action_required: false,
})

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
  const event = withRaw(recorded('session.annotated', annotation.annotated_at, payload), {
    record: annotation,
    rebuild: annotationFrom,
    place: { index },
  })
  return draft(event, { run, key: `annotation/${index}` }, ids)
}

/** An annotation as a file has it. */
export function annotationFrom({ timestamp, payload }: Recorded<'session.annotated'>): PhaseAnnotation {
  return compact({
    annotation_id: payload.annotationId,
    phase_type: payload.phaseType,
    tool_call_range: { start_call_id: payload.startCallId, end_call_id: payload.endCallId },
    annotated_by: payload.annotatedBy,
    annotated_at: isIsoTime(payload.annotatedAt) ? payload.annotatedAt : timestamp,
    confidence: payload.confidence,
    description: optionalTextOf(payload.description),
    decisions: payload.decisions as PhaseAnnotation['decisions'],
    context_used: payload.contextUsed as PhaseAnnotation['context_used'],
  })
}

/** An agent of a file as events name it. */
const agentOf = (agent: AgentIdentifier) => ({
  agentId: line(agent.agent_id),
  agentType: line(agent.original_agent_type ?? agent.agent_type),
  ...compact({ instanceId: optionalLine(agent.instance_id) }),
})

/** An agent of the events as a file names it; `agent_type` is what it does, where that is known better. */
export function identifierFrom(agent: Agent, agent_type = fileAgentType(agent.agentType)): AgentIdentifier {
  return compact({
    agent_id: agent.agentId || 'unknown',
    agent_type,
    instance_id: agent.instanceId,
    original_agent_type: agent.agentType === agent_type ? undefined : agent.agentType,
  })
}

function collaborationOf({ collaboration }: MultiAgentSession) {
  const { mode, pattern, orchestrator, participants, original_pattern } = collaboration
  return {
    mode,
    pattern: original_pattern === 'consensus' ? ('consensus' as const) : pattern,
    orchestrator: agentOf(orchestrator),
    participants: participants.map(agentOf),
  }
}

type Collaboration = NonNullable<Recorded<'session.started'>['payload']['collaboration']>

/** Who works together, in the file's words; consensus has none of its own. */
export function collaborationFrom(collaboration: Collaboration): CollaborationInfo {
  const { mode, pattern, orchestrator, participants } = collaboration
  return compact({
    mode,
    pattern: pattern === 'consensus' ? 'peer_to_peer' : pattern,
    orchestrator: identifierFrom(orchestrator),
    participants: participants.map((agent) => identifierFrom(agent)),
    original_pattern: pattern === 'consensus' ? pattern : undefined,
  })
}
