import type { EventOf, EventType } from '../contract/event.ts'
import {
  type AgentSession,
  ContextContribution,
  type PhaseAnnotation,
  type SessionStatus,
  type SubagentInfo,
  type ToolCall,
} from '../contract/session-file/agent-session.ts'
import {
  type AgentIdentifier,
  type AgentMessage,
  type CollaborationInfo,
  delegationTools,
  type SubAgentSession,
} from '../contract/session-file/multi-agent-session.ts'
import type { Agent } from '../contract/values.ts'
import { toolCategory } from '../core/delegation/tool-category.ts'
import { isIsoTime, millisOf } from '../core/json/iso-time.ts'
import { compact, isRecord, type JsonRecord } from '../core/json/json-value.ts'
import { fileAgentType } from './agent-types.ts'
import { applyResidue, type Residue } from './residue.ts'
import { loosen } from './shape.ts'

/** What the rebuilding of a record needs of an event: when it was and what it says. */
export type Recorded<T extends EventType> = T extends EventType
  ? Pick<EventOf<T>, 'type' | 'timestamp' | 'payload'>
  : never

/** What an import keeps in `raw`: the place of a record in its list, and what its events do not hold. */
export type RawRecord = Residue & {
  readonly index?: number
  /** Only on the session: which format the file was in. */
  readonly format?: 'std-001' | 'std-008'
}

export const rawOf = (payload: { readonly raw?: JsonRecord | undefined }): RawRecord =>
  (payload.raw ?? {}) as RawRecord

/** A rebuilt record with what its import kept put back. */
export function restored<T extends object>(rebuilt: T, raw: RawRecord): T {
  return applyResidue(rebuilt as JsonRecord, raw) as T
}

/** Imported records in the order of their file; recorded ones as they came. */
export function inFileOrder<T>(items: readonly T[], indexOf: (item: T) => number | undefined): T[] {
  return items
    .map((item, position) => ({ item, at: indexOf(item) ?? position, position }))
    .sort((a, b) => a.at - b.at || a.position - b.position)
    .map(({ item }) => item)
}

/** A text from a value of an event that may be any JSON. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  const message = isRecord(value) ? value['message'] : undefined
  return typeof message === 'string' ? message : (JSON.stringify(value) ?? '')
}

type Head = Omit<AgentSession, 'summary'> & { collaboration?: CollaborationInfo }

/** A session as a file has it, without calls, sub-sessions, messages and summary. */
export function headFrom(started: Recorded<'session.started'>, ended: EndEvent | undefined): Head {
  const { payload, timestamp } = started
  const prompt = payload.prompt === undefined ? '' : textOf(payload.prompt)
  return compact({
    session_id: payload.foreignId || 'unknown',
    task_title: payload.title || payload.name || firstLine(prompt) || 'untitled session',
    task_description: payload.description === undefined ? undefined : textOf(payload.description),
    user_prompt: prompt,
    created_at: timestamp,
    ...endingOf(ended),
    agent: compact({ model_id: payload.model ?? 'unknown', capability_snapshot: payload.capabilitySnapshot }),
    collaboration: payload.collaboration ? collaborationFrom(payload.collaboration) : undefined,
    tool_calls: [],
  })
}

type Collaboration = NonNullable<Recorded<'session.started'>['payload']['collaboration']>

/** Who works together, in the file's words; consensus has none of its own. */
export function collaborationFrom(collaboration: Collaboration): CollaborationInfo {
  const { mode, pattern, orchestrator, participants } = collaboration
  return compact({
    mode,
    pattern: pattern === 'consensus' ? 'peer_to_peer' : pattern,
    orchestrator: identifierFrom(orchestrator),
    participants: participants.map(identifierFrom),
    original_pattern: pattern === 'consensus' ? pattern : undefined,
  })
}

const firstLine = (text: string): string => text.trim().split('\n')[0]?.slice(0, 120) ?? ''

/** A sub-session as a file has it, without its calls. */
export function subSessionFrom(
  spawned: Recorded<'agent.spawned'>,
  ended: EndEvent | undefined,
): SubAgentSession {
  const { payload, timestamp } = spawned
  const output = ended && 'output' in ended.payload ? ended.payload.output : undefined
  return compact({
    sub_session_id: payload.foreignId || 'unknown',
    parent_session_id: payload.foreignParentId || 'unknown',
    agent: identifierFrom(payload),
    triggered_by_call_id: payload.triggeredByCallId || 'unknown',
    task: compact({
      task_id: payload.task?.taskId || 'unknown',
      description: textOf(payload.task?.description ?? payload.agentTask ?? ''),
      priority: payload.task?.priority ?? 'medium',
      dependencies: payload.task?.dependencies,
    }),
    started_at: timestamp,
    ...endingOf(ended),
    tool_calls: [],
    output: output as SubAgentSession['output'],
  })
}

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

/** How something ended in the file's words; what they do not say stands in termination_reason. */
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

/** An agent of the events as a file names it. */
export function identifierFrom({ agentId, agentType, instanceId }: Agent): AgentIdentifier {
  const agent_type = fileAgentType(agentType)
  return compact({
    agent_id: agentId || 'unknown',
    agent_type,
    instance_id: instanceId,
    original_agent_type: agentType === agent_type ? undefined : agentType,
  })
}

const guidance = (content: string) => ({
  feedback_type: 'guidance',
  subject: content.split('\n')[0]?.slice(0, 80) ?? '',
  content,
  action_required: false,
})

/** An annotation as a file has it. */
export function annotationFrom({ timestamp, payload }: Recorded<'session.annotated'>): PhaseAnnotation {
  return compact({
    annotation_id: payload.annotationId,
    phase_type: payload.phaseType,
    tool_call_range: { start_call_id: payload.startCallId, end_call_id: payload.endCallId },
    annotated_by: payload.annotatedBy,
    annotated_at: isIsoTime(payload.annotatedAt) ? payload.annotatedAt : timestamp,
    confidence: payload.confidence,
    description: payload.description === undefined ? undefined : textOf(payload.description),
    decisions: payload.decisions as PhaseAnnotation['decisions'],
    context_used: payload.contextUsed as PhaseAnnotation['context_used'],
  })
}

export type CallStart = Recorded<'tool.call.started'>
export type CallEnd = Recorded<'tool.call.completed' | 'tool.call.failed' | 'tool.call.denied'>
/** The two ends of a call; either may be missing from a journal. */
export type CallEvents = { readonly started?: CallStart | undefined; readonly ended?: CallEnd | undefined }

/** A call as a file has it. One without an end is open: it lasts until `now`, and has not succeeded. */
export function toolCallFrom({ started, ended }: CallEvents, now: string): ToolCall {
  const start = started?.timestamp ?? ended?.timestamp ?? now
  const end = ended?.timestamp ?? now
  const ended_at = millisOf(end) < millisOf(start) ? start : end
  const head = started?.payload ?? ended?.payload
  const tool = head?.tool || 'unknown'
  const params = started?.payload.params ?? {}
  const isDelegation = delegationTools.has(tool)
  const closing = ended && ended.type !== 'tool.call.denied' ? ended.payload : undefined
  const isContribution = loosen(ContextContribution).safeParse(closing?.contextContribution).success
  return compact({
    call_id: head?.callId || 'unknown',
    tool_name: isDelegation ? 'Task' : tool,
    tool_category: started?.payload.category ?? toolCategory(tool, params),
    started_at: start,
    ended_at,
    duration_ms: closing?.durationMs ?? millisOf(ended_at) - millisOf(start),
    input: compact({
      params,
      description: optionalText(started?.payload.description),
      raw_command: optionalText(started?.payload.rawCommand),
    }),
    output: outputOf(ended),
    context_contribution: isContribution
      ? (closing?.contextContribution as NonNullable<ToolCall['context_contribution']>)
      : undefined,
    subagent_info: closing?.subagent ? subagentInfo(closing.subagent) : undefined,
    original_tool_name: isDelegation && tool !== 'Task' ? tool : undefined,
    open: ended ? undefined : true,
  })
}

/** What a call without an end has to show: the format has no word for it, and it must not count as a success. */
export const openOutput: Readonly<ToolCall['output']> = {
  status: 'failed',
  error: 'the call had no end when this file was written',
}

function outputOf(ended: CallEnd | undefined): ToolCall['output'] {
  if (!ended) return { ...openOutput }
  if (ended.type === 'tool.call.denied')
    return { status: 'failed', error: `denied (${ended.payload.gate}): ${textOf(ended.payload.reason)}` }
  const { result, error, truncated } = ended.payload
  const isFailed = ended.type === 'tool.call.failed'
  const reason = ended.type === 'tool.call.failed' ? ended.payload.reason : undefined
  return compact({
    status: isFailed ? ('failed' as const) : ('success' as const),
    result: resultOf(result),
    error: error === undefined || error === null ? reason : textOf(error),
    truncated,
  })
}

function resultOf(result: unknown): Record<string, unknown> | undefined {
  if (result === undefined || result === null) return undefined
  if (isRecord(result)) return result
  return typeof result === 'string' ? { display: result } : { value: result }
}

type Subagent = NonNullable<Recorded<'tool.call.completed'>['payload']['subagent']>

function subagentInfo(subagent: Subagent): SubagentInfo {
  return compact({
    subagent_type: subagent.subagentType,
    sub_session_id: subagent.subSessionId || undefined,
    tool_uses: subagent.toolUses,
    tokens_used: subagent.tokensUsed,
    tools_breakdown: subagent.toolsBreakdown?.map(({ toolName, count }) => ({ tool_name: toolName, count })),
  })
}

const optionalText = (body: unknown): string | undefined => (body === undefined ? undefined : textOf(body))
