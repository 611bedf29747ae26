import * as z from 'zod'
import { FileId } from '../std-001/parts.ts'

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
