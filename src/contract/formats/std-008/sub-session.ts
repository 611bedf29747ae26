import * as z from 'zod'
import { Priority } from '../../values.ts'
import { FileId, IsoTime, SessionStatus } from '../std-001/parts.ts'
import { ToolCall } from '../std-001/tool-call.ts'
import { AgentIdentifier } from './agent.ts'
import { DeveloperOutput } from './developer.ts'
import { ReviewerOutput } from './reviewer.ts'

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
