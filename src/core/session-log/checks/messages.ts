import { loosePayloads } from '../../../contract/formats/std-008/loose-sessions.ts'
import type { MultiAgentSession } from '../../../contract/formats/std-008/session.ts'
import { shapeFaults } from '../../../contract/formats/std-008/shape-faults.ts'
import type { Report } from '../report.ts'

/** Messages go between known agents, answer messages of the file, and are numbered from 1. */
export function checkMessages(session: MultiAgentSession, report: Report): void {
  checkAgents(session, report)
  checkReplies(session, report)
  checkCorrelations(session, report)
  checkSequence(session, report)
  session.messages.forEach((message, i) => {
    for (const fault of shapeFaults(message.payload, loosePayloads[message.message_type]))
      report(
        'payload_shape',
        ['messages', i, 'payload', ...fault.path],
        `not a ${message.message_type} payload: ${fault.message}`,
      )
  })
}

/** The ids of everyone who takes part. */
export function knownAgents({ collaboration }: MultiAgentSession): Set<string> {
  return new Set([collaboration.orchestrator, ...collaboration.participants].map((agent) => agent.agent_id))
}

function checkAgents(session: MultiAgentSession, report: Report): void {
  const known = knownAgents(session)
  session.messages.forEach((message, i) => {
    for (const side of ['from_agent', 'to_agent'] as const) {
      const id = message[side].agent_id
      if (!known.has(id))
        report('agent_unknown', ['messages', i, side, 'agent_id'], `${id} is no orchestrator or participant`)
    }
  })
  session.sub_sessions.forEach((sub, i) => {
    if (!known.has(sub.agent.agent_id))
      report(
        'agent_unlisted',
        ['sub_sessions', i, 'agent', 'agent_id'],
        `${sub.agent.agent_id} is no orchestrator or participant`,
      )
  })
}

function checkReplies({ messages }: MultiAgentSession, report: Report): void {
  const numbers = new Map(messages.map((message) => [message.message_id, message.sequence_number]))
  messages.forEach((message, i) => {
    const { reply_to } = message
    if (reply_to === undefined) return
    const answered = numbers.get(reply_to)
    if (answered === undefined)
      report('reply_missing', ['messages', i, 'reply_to'], `there is no message ${reply_to}`)
    else if (answered > message.sequence_number || reply_to === message.message_id)
      report('reply_later', ['messages', i, 'reply_to'], `${reply_to} does not come before this message`)
  })
}

function checkCorrelations({ messages }: MultiAgentSession, report: Report): void {
  const members = new Map<string, number[]>()
  messages.forEach(({ correlation_id }, i) => {
    if (correlation_id === undefined) return
    const list = members.get(correlation_id)
    if (list) list.push(i)
    else members.set(correlation_id, [i])
  })
  for (const [id, [first, ...others]] of members)
    if (first !== undefined && others.length === 0)
      report('correlation_single', ['messages', first, 'correlation_id'], `no other message has ${id}`)
}

function checkSequence({ messages }: MultiAgentSession, report: Report): void {
  const seen = new Map<number, number>()
  messages.forEach(({ sequence_number }, i) => {
    const first = seen.get(sequence_number)
    if (first === undefined) seen.set(sequence_number, i)
    else
      report('sequence_duplicate', ['messages', i, 'sequence_number'], `message ${first} has the same number`)
  })
  const numbers = [...seen.keys()].sort((a, b) => a - b)
  const gap = numbers.findIndex((number, i) => number !== i + 1)
  const wrong = numbers[gap]
  if (wrong !== undefined)
    report(
      'sequence_gap',
      ['messages', seen.get(wrong) ?? 0, 'sequence_number'],
      `expected ${gap + 1} here, found ${wrong}`,
    )
}
