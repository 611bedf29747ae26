import type { AgentMessage } from '../../../contract/formats/std-008/message.ts'
import type { MultiAgentSession } from '../../../contract/formats/std-008/session.ts'
import { isRecord } from '../json/value.ts'
import type { Report } from '../report.ts'

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

/** The task a message is about, wherever its payload says so. */
export function taskIdOf({ payload }: Pick<AgentMessage, 'payload'>): string | undefined {
  if (!isRecord(payload)) return undefined
  const task = isRecord(payload['task']) ? payload['task']['task_id'] : undefined
  return text(task) ?? text(payload['task_id']) ?? text(payload['related_task_id'])
}

export const reviewIdOf = ({ payload }: Pick<AgentMessage, 'payload'>): string | undefined =>
  isRecord(payload) ? text(payload['review_id']) : undefined

function checkAcknowledgments(inOrder: readonly Numbered[], report: Report): void {
  const acknowledged = new Set<string>()
  // A recorder that writes no acknowledgments at all says nothing by leaving one out.
  if (!inOrder.some(({ message }) => message.message_type === 'acknowledgment')) return
  for (const { message, position } of inOrder) {
    if (message.message_type !== 'acknowledgment') continue
    const named = isRecord(message.payload) ? text(message.payload['acknowledged_message_id']) : undefined
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

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined
