import * as z from 'zod'
import { MessageType } from '../../events/message.ts'
import { Count } from '../../values.ts'
import { FileId, IsoTime } from '../std-001/parts.ts'
import { AgentIdentifier } from './agent.ts'

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
