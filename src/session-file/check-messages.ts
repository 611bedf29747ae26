import type { Report } from '../contract/session-file/issue.ts'
import { shapeFaults } from '../contract/session-file/message-payloads.ts'
import type { AgentMessage, MultiAgentSession } from '../contract/session-file/multi-agent-session.ts'
import { reviewIdOf, taskIdOf } from '../core/collaboration/message-protocol.ts'
import { isRecord, type JsonRecord } from '../core/json/json-value.ts'
import { lostReplies, unlistedAgents } from './session-walk.ts'
import { loosePayloads } from './shape.ts'

/** Messages answer messages of the file, and are numbered from 1. */
export function checkMessages(session: MultiAgentSession, report: Report): void {
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

/** Whoever is named takes part; a fault elsewhere in the file hides nobody. */
export function checkAgents(session: JsonRecord, report: Report): void {
  for (const { agent, path } of unlistedAgents(session))
    report(
      path[0] === 'messages' ? 'agent_unknown' : 'agent_unlisted',
      [...path, 'agent_id'],
      `${agent.agent_id} is not an orchestrator or participant`,
    )
}

function checkReplies(session: MultiAgentSession, report: Report): void {
  const { messages } = session
  for (const i of lostReplies(session))
    report('reply_missing', ['messages', i, 'reply_to'], `there is no message ${messages[i]?.reply_to}`)
  const numbers = new Map(messages.map((message) => [message.message_id, message.sequence_number]))
  messages.forEach(({ message_id, sequence_number, reply_to }, i) => {
    const answered = reply_to === undefined ? undefined : numbers.get(reply_to)
    if (answered !== undefined && (answered > sequence_number || reply_to === message_id))
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

type Numbered = { readonly message: AgentMessage; readonly position: number }

/** Assignments are acknowledged, and completions and review results answer something open. */
export function checkMessageFlow(session: MultiAgentSession, report: Report): void {
  const inOrder = session.messages
    .map((message, position) => ({ message, position }))
    .sort((a, b) => a.message.sequence_number - b.message.sequence_number)
  checkAcknowledgments(inOrder, report)
  checkCompletions(inOrder, report)
  checkReviewResults(inOrder, report)
  checkTasks(session, report)
}

function checkAcknowledgments(inOrder: readonly Numbered[], report: Report): void {
  const acknowledged = new Set<string>()
  // A recorder that writes no acknowledgments at all says nothing by leaving one out.
  if (!inOrder.some(({ message }) => message.message_type === 'acknowledgment')) return
  for (const { message, position } of inOrder) {
    if (message.message_type !== 'acknowledgment') continue
    const named = acknowledgedId(message)
    for (const id of [named, message.reply_to]) if (id !== undefined) acknowledged.add(id)
    if (named !== undefined && message.reply_to !== undefined && named !== message.reply_to)
      report(
        'acknowledgment_reply',
        ['messages', position, 'reply_to'],
        `it acknowledges ${named}, but answers ${message.reply_to}`,
      )
  }
  for (const { message, position } of inOrder)
    if (message.message_type === 'task_assignment' && !acknowledged.has(message.message_id))
      report('unacknowledged', ['messages', position], `nobody acknowledged ${message.message_id}`)
}

function checkCompletions(inOrder: readonly Numbered[], report: Report): void {
  const active = new Set<string>()
  for (const { message, position } of inOrder) {
    const task = taskIdOf(message)
    if (task === undefined) continue
    if (message.message_type === 'task_assignment') active.add(task)
    if (message.message_type !== 'task_completion') continue
    if (!active.has(task)) report('unassigned', ['messages', position], `${task} is not an open assignment`)
    const isPartial = isRecord(message.payload) && message.payload['status'] === 'partial'
    if (!isPartial) active.delete(task)
  }
}

function checkReviewResults(inOrder: readonly Numbered[], report: Report): void {
  const open = new Set<string>()
  const keys = (message: AgentMessage) => {
    const [review, task] = [reviewIdOf(message), taskIdOf(message)]
    return [
      ...(review === undefined ? [] : [`review ${review}`]),
      ...(task === undefined ? [] : [`task ${task}`]),
    ]
  }
  for (const { message, position } of inOrder) {
    if (message.message_type === 'review_request') for (const key of keys(message)) open.add(key)
    if (message.message_type !== 'review_result') continue
    const named = keys(message)
    if (!named.some((key) => open.has(key)))
      report('unrequested', ['messages', position], 'no open review_request has its review_id or task_id')
    for (const key of named) open.delete(key)
  }
}

function checkTasks(session: MultiAgentSession, report: Report): void {
  const tasks = knownTasks(session)
  session.messages.forEach((message, i) => {
    const task = taskIdOf(message)
    if (task !== undefined && !tasks.has(task))
      report('task_unknown', ['messages', i, 'payload'], `no sub-session or assignment has the task ${task}`)
  })
  session.sub_sessions.forEach(({ task, output }, i) => {
    task.dependencies?.forEach((id, n) => {
      if (!tasks.has(id))
        report('task_unknown', ['sub_sessions', i, 'task', 'dependencies', n], `there is no task ${id}`)
    })
    if (output && !tasks.has(output.task_id))
      report('task_unknown', ['sub_sessions', i, 'output', 'task_id'], `there is no task ${output.task_id}`)
    if (output && 'findings' in output) {
      const findings = new Set(output.findings.map((finding) => finding.finding_id))
      output.required_changes?.forEach((change, n) => {
        const unknown = change.related_findings.find((id) => !findings.has(id))
        if (unknown !== undefined)
          report(
            'finding_unknown',
            ['sub_sessions', i, 'output', 'required_changes', n, 'related_findings'],
            `the review has no finding ${unknown}`,
          )
      })
    }
  })
}

function knownTasks(session: MultiAgentSession): Set<string> {
  const tasks = new Set(session.sub_sessions.map((sub) => sub.task.task_id))
  for (const message of session.messages) {
    const task = message.message_type === 'task_assignment' ? taskIdOf(message) : undefined
    if (task !== undefined) tasks.add(task)
  }
  return tasks
}

function acknowledgedId({ payload }: AgentMessage): string | undefined {
  const named = isRecord(payload) ? payload['acknowledged_message_id'] : undefined
  return typeof named === 'string' && named !== '' ? named : undefined
}
