import * as z from 'zod'
import { AgentSession } from '../std-001/session.ts'
import { CollaborationInfo } from './agent.ts'
import { AgentMessage } from './message.ts'
import { SubAgentSession } from './sub-session.ts'
import { MultiAgentSessionSummary } from './summary.ts'

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

/** The version of the multi-agent format that is written. */
export const std008Version = '1.0'
