import type { AgentIdentifier } from '../../../contract/formats/std-008/agent.ts'
import type { AgentMessage } from '../../../contract/formats/std-008/message.ts'
import type { Agent } from '../../../contract/values.ts'
import { fileAgentType } from '../agent-types.ts'
import { compact } from '../json/value.ts'
import { type Recorded, textOf } from './recorded.ts'

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
