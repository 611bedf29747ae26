import * as z from 'zod'
import { MessageType } from '../events/message.ts'
import { Count, Millis, Priority, Verdict } from '../values.ts'
import { AgentSession, FileId, IsoTime, SessionStatus, SessionSummary, ToolCall } from './agent-session.ts'
import { DeveloperOutput, ReviewerOutput } from './outputs.ts'

/** The three kinds of agent a session file knows. */
export const AgentType = z.enum(['architect', 'developer', 'reviewer'])
export type AgentType = z.infer<typeof AgentType>

/** Who an agent is, in a session file. */
export const AgentIdentifier = z
  .strictObject({
    agent_id: FileId,
    agent_type: AgentType,
    instance_id: z.string().optional(),
    /** The agent's own type, where it is none of the three. */
    original_agent_type: z.string().optional(),
  })
  .meta({ id: 'AgentIdentifier' })
export type AgentIdentifier = z.infer<typeof AgentIdentifier>

/** Who worked together, and how. */
export const CollaborationInfo = z
  .strictObject({
    mode: z.enum(['single', 'multi_agent']),
    pattern: z.enum(['master_worker', 'peer_to_peer', 'pipeline']),
    orchestrator: AgentIdentifier,
    participants: z.array(AgentIdentifier),
    /** The pattern's own name, where the format has none for it. */
    original_pattern: z.string().optional(),
    original_mode: z.string().optional(),
  })
  .meta({ id: 'CollaborationInfo' })
export type CollaborationInfo = z.infer<typeof CollaborationInfo>

/** Tool names that start a sub-agent; a file that Muster writes has only `Task`. */
export const delegationTools: ReadonlySet<string> = new Set([
  'Task',
  'Agent',
  'delegate_to_agent',
  'sm.spawn',
  'sm spawn',
  'workflow.agent',
])

/** The work a sub-agent was given. */
export const TaskAssignment = z
  .strictObject({
    task_id: FileId,
    description: z.string(),
    priority: Priority,
    dependencies: z.array(z.string()).optional(),
  })
  .meta({ id: 'TaskAssignment' })
export type TaskAssignment = z.infer<typeof TaskAssignment>

/** One sub-agent's execution; the parent is the session or another sub-session. */
export const SubAgentSession = z
  .strictObject({
    sub_session_id: FileId,
    parent_session_id: FileId,
    agent: AgentIdentifier,
    triggered_by_call_id: FileId,
    task: TaskAssignment,
    started_at: IsoTime,
    completed_at: IsoTime.optional(),
    status: SessionStatus,
    termination_reason: z.string().optional(),
    original_status: z.unknown().optional(),
    tool_calls: z.array(ToolCall),
    output: z.union([DeveloperOutput, ReviewerOutput]).optional(),
    /** Output in a shape that is neither a developer's nor a reviewer's. */
    original_output: z.unknown().optional(),
  })
  .meta({ id: 'SubAgentSession' })
export type SubAgentSession = z.infer<typeof SubAgentSession>

/** One message between agents. */
export const AgentMessage = z
  .strictObject({
    message_id: FileId,
    timestamp: IsoTime,
    sequence_number: Count,
    from_agent: AgentIdentifier,
    to_agent: AgentIdentifier,
    message_type: MessageType,
    payload: z.unknown(),
    correlation_id: z.string().optional(),
    reply_to: z.string().optional(),
    original_message_id: z.unknown().optional(),
    original_message_type: z.unknown().optional(),
    original_reply_to: z.unknown().optional(),
  })
  .meta({ id: 'AgentMessage' })
export type AgentMessage = z.infer<typeof AgentMessage>

/** One agent's share of a session. */
export const AgentSummary = z
  .strictObject({
    agent_id: FileId,
    agent_type: z.string(),
    tool_calls_count: Count,
    duration_ms: Millis,
    status: z.enum(['completed', 'failed', 'in_progress']),
    original_agent_type: z.string().optional(),
  })
  .meta({ id: 'AgentSummary' })
export type AgentSummary = z.infer<typeof AgentSummary>

/** The figures of a collaboration. */
export const MultiAgentSessionSummary = z
  .strictObject({
    ...SessionSummary.shape,
    agents: z.strictObject({
      architect: AgentSummary,
      developers: z.array(AgentSummary),
      reviewer: AgentSummary.optional(),
      /** Every reviewer but the last, which is `reviewer`. */
      reviewers: z.array(AgentSummary).optional(),
      /** Architects beside the orchestrator, and participants that never ran. */
      others: z.array(AgentSummary).optional(),
    }),
    tasks: z.strictObject({ total: Count, completed: Count, failed: Count }),
    review_iterations: Count,
    final_verdict: z.enum(['approved', 'rejected']).optional(),
    /** The last verdict, where it is not a final one. */
    last_verdict: Verdict.optional(),
  })
  .meta({ id: 'MultiAgentSessionSummary' })
export type MultiAgentSessionSummary = z.infer<typeof MultiAgentSessionSummary>

/** The session of several agents: the base session and what they did together. */
export const MultiAgentSession = z
  .strictObject({
    ...AgentSession.shape,
    collaboration: CollaborationInfo,
    sub_sessions: z.array(SubAgentSession),
    messages: z.array(AgentMessage),
    summary: MultiAgentSessionSummary,
  })
  .meta({ id: 'MultiAgentSession' })
export type MultiAgentSession = z.infer<typeof MultiAgentSession>

/** What the format makes of a single session: its summary need not have what several agents add to it. */
export const SingleAsMultiAgent = z
  .strictObject({
    ...MultiAgentSession.shape,
    collaboration: z.strictObject({ ...CollaborationInfo.shape, mode: z.literal('single') }),
    summary: z.strictObject({
      ...MultiAgentSessionSummary.partial().shape,
      ...SessionSummary.shape,
    }),
  })
  .meta({ id: 'SingleAsMultiAgent' })

/** The version of the multi-agent format that is written. */
export const std008Version = '1.0'
