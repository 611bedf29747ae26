import type { AgentIdentifier } from '../../../contract/formats/std-008/agent.ts'
import type { AgentMessage } from '../../../contract/formats/std-008/message.ts'
import type { MultiAgentSession } from '../../../contract/formats/std-008/session.ts'
import type { ImportIds } from '../derived-ids.ts'
import { compact } from '../json/value.ts'
import { messageFrom } from '../rebuild/message.ts'
import { draft, line, millis, type Run, rawFor, recorded, type Timed } from './drafting.ts'
import type { RunSpan } from './sub-session-events.ts'

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
