import type { AgentMessage } from '../../../contract/formats/std-008/message.ts'
import type { SubAgentSession } from '../../../contract/formats/std-008/sub-session.ts'
import { reviewIdOf, taskIdOf } from '../checks/message-flow.ts'
import { derivedUuid } from '../derived-ids.ts'
import { messageFrom } from '../rebuild/message.ts'
import type { FileAgents } from './agents.ts'
import type { Collected } from './collect.ts'
import { claimMessages, flowMessages, type Spoken } from './flow-messages.ts'
import type { OwnerRecord } from './owner-record.ts'
import { isWorkflow } from './owners.ts'

type Context = { readonly agents: FileAgents; readonly subs: ReadonlyMap<OwnerRecord, SubAgentSession> }

/** The messages of a recorded session: what agents said, and what the protocol records of what they did. */
export function recordedMessages(found: Collected, { agents, subs }: Context): AgentMessage[] {
  const said = found.messages.map(({ event, position }): Spoken => {
    const message = messageFrom(event)
    const { from, to } = event.payload
    return {
      message: { ...message, from_agent: { ...agents.named(from) }, to_agent: { ...agents.named(to) } },
      position,
      rank: 0,
    }
  })
  // A workflow records its protocol whole.
  if (isWorkflow(found.root)) return numbered(said.map(({ message }) => message))
  const known = new Set(said.flatMap(({ message }) => subjects(message)))
  const flow = [...subs].flatMap(([owner, sub]) => flowMessages({ owner, sub, agents, said }))
  const claims = claimMessages(found, agents, subs)
  const derived = [...flow, ...claims].filter(
    ({ message }) => !subjects(message).some((key) => known.has(key)),
  )
  const inOrder = [...said, ...derived].sort((a, b) => a.position - b.position || a.rank - b.rank)
  return numbered(inOrder.map(({ message }) => message))
}

/** What a message is and is about; a message that was really sent stands for the one that would be derived. */
function subjects(message: AgentMessage): string[] {
  if (message.message_type === 'task_progress' || message.message_type === 'feedback') return []
  if (message.message_type === 'acknowledgment')
    return message.reply_to === undefined ? [] : [`ack ${message.reply_to}`]
  const ids = [taskIdOf(message), reviewIdOf(message)].filter((id) => id !== undefined)
  return ids.map((id) => `${message.message_type} ${id}`)
}

/** Numbers from 1 in the order of events; ids become UUIDs, and replies follow them. */
function numbered(messages: readonly AgentMessage[]): AgentMessage[] {
  const ids = new Map<string, string>()
  const unique = messages.map((message, i) => {
    const id = isUuid(message.message_id) && !ids.has(message.message_id) ? message.message_id : undefined
    const message_id =
      id ?? derivedUuid(`message ${message.message_id} ${ids.has(message.message_id) ? i : ''}`)
    if (!ids.has(message.message_id)) ids.set(message.message_id, message_id)
    return { message, message_id }
  })
  return unique.map(({ message, message_id }, i) => {
    const { reply_to, ...rest } = message
    const answered = reply_to === undefined ? undefined : ids.get(reply_to)
    return {
      ...rest,
      message_id,
      sequence_number: i + 1,
      payload: acknowledging(message, ids),
      ...(answered === undefined ? {} : { reply_to: answered }),
      ...(reply_to !== undefined && answered === undefined ? { original_reply_to: reply_to } : {}),
      ...(message_id === message.message_id ? {} : { original_message_id: message.message_id }),
    }
  })
}

function acknowledging({ message_type, payload }: AgentMessage, ids: ReadonlyMap<string, string>): unknown {
  if (message_type !== 'acknowledgment' || typeof payload !== 'object' || payload === null) return payload
  const { acknowledged_message_id: named } = payload as { acknowledged_message_id?: unknown }
  const id = typeof named === 'string' ? ids.get(named) : undefined
  return id === undefined ? payload : { ...payload, acknowledged_message_id: id }
}

const isUuid = (id: string): boolean =>
  /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i.test(id)
