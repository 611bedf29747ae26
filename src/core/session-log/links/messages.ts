import type { MultiAgentSession } from '../../../contract/formats/std-008/session.ts'
import { knownAgents } from '../checks/messages.ts'
import { at, root } from '../json/pointer.ts'
import type { RepairLog } from '../repair/log.ts'

/** Lists the agents that messages and sub-sessions name, and takes out replies to messages that are not there. */
export function mendMessages(session: MultiAgentSession, log: RepairLog): void {
  const known = knownAgents(session)
  const named = [
    ...session.sub_sessions.map((sub) => sub.agent),
    ...session.messages.flatMap((message) => [message.from_agent, message.to_agent]),
  ]
  const place = at(at(root, 'collaboration'), 'participants')
  for (const agent of named) {
    if (known.has(agent.agent_id)) continue
    known.add(agent.agent_id)
    session.collaboration.participants.push({ ...agent })
    log(place, 'linked', `${agent.agent_id} takes part, so it is listed`)
  }
  const ids = new Set(session.messages.map((message) => message.message_id))
  session.messages.forEach((message, i) => {
    if (message.reply_to === undefined || ids.has(message.reply_to)) return
    ;(message as Record<string, unknown>)['original_reply_to'] ??= message.reply_to
    log(at(at(at(root, 'messages'), i), 'reply_to'), 'set_aside', `there is no message ${message.reply_to}`)
    delete message.reply_to
  })
}
