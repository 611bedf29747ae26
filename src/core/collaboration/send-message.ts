import { derivedUuid } from '../../contract/derived-ids.ts'
import type { Agent } from '../../contract/values.ts'
import {
  answeredBy,
  checkMessage,
  type LoggedMessage,
  type MessageLog,
  type MessagePayload,
  messageSubject,
  type OutgoingMessage,
  openReview,
  openWork,
  shapeProblems,
} from './message-protocol.ts'

/** Why a message is refused: it has another shape than its type, or it does not fit what was said before. */
export type RefusedMessage = {
  readonly problems: readonly string[]
  readonly errorType: 'malformed' | 'rejected'
}

type SendResult = { readonly talk: MessageLog; readonly message: MessagePayload } | RefusedMessage

/**
 * Sends a message: numbered without gaps, tied to its task and to what it answers. The same log and the same
 * words give the same message, ids included, so that a step that is run again repeats what it said.
 */
export function sendMessage(talk: MessageLog, utterance: OutgoingMessage): SendResult {
  const problems = checkMessage(talk, utterance)
  if (problems.length > 0)
    return { problems, errorType: shapeProblems(utterance).length > 0 ? 'malformed' : 'rejected' }
  const n = talk.said.length + 1
  const messageId = derivedUuid(`${talk.workflowId}\nmessage\n${n}`)
  const answered = answeredBy(talk, utterance)
  const subject = messageSubject(utterance)
  const correlationId =
    answered?.correlationId ?? derivedUuid(`${talk.workflowId}\n${subject.correlation ?? `message ${n}`}`)
  const said: LoggedMessage = {
    messageId,
    messageType: utterance.type,
    from: utterance.from,
    to: utterance.to,
    correlationId,
    ...(subject.taskId === undefined ? {} : { taskId: subject.taskId }),
    ...(subject.reviewId === undefined ? {} : { reviewId: subject.reviewId }),
  }
  const message: MessagePayload = {
    messageId,
    sequenceNumber: n,
    from: agentOf(talk, utterance.from),
    to: agentOf(talk, utterance.to),
    messageType: utterance.type,
    payload: utterance.payload,
    correlationId,
    ...(answered === undefined ? {} : { replyTo: answered.messageId }),
  }
  return { talk: logAfter(talk, utterance, said), message }
}

function logAfter(talk: MessageLog, utterance: OutgoingMessage, said: LoggedMessage): MessageLog {
  const next = { ...talk, said: [...talk.said, said] }
  const { type, payload } = utterance
  if (type === 'task_assignment') {
    const { task_id } = payload.task
    return {
      ...next,
      assignments: { ...talk.assignments, [task_id]: said.messageId },
      reopened: talk.reopened.filter((id) => id !== task_id),
    }
  }
  // What is partly done is still assigned.
  if (type === 'task_completion' && payload.status !== 'partial')
    return closeTask(next, payload.task_id, payload.status === 'failed')
  if (type === 'abort' && payload.scope === 'task') {
    const { target_id } = payload
    return {
      ...closeTask(next, target_id, true),
      reviews: kept(talk.reviews, ([review]) => review !== target_id),
    }
  }
  if (type === 'abort') return { ...next, assignments: {}, reviews: {}, reopened: [] }
  if (type === 'review_request') {
    const review = payload.review_id ?? payload.task_id
    return { ...next, reviews: { ...talk.reviews, [review]: said.messageId } }
  }
  if (type !== 'review_result') return next
  const asked = openReview(talk, payload.review_id ?? payload.task_id)
  return { ...next, reviews: kept(talk.reviews, ([, id]) => id !== asked) }
}

function closeTask(talk: MessageLog, taskId: string, mayReturn: boolean): MessageLog {
  if (!Object.hasOwn(talk.assignments, taskId)) return talk
  return {
    ...talk,
    assignments: kept(talk.assignments, ([id]) => id !== taskId),
    reopened: mayReturn ? [...talk.reopened, taskId] : talk.reopened,
  }
}

const kept = (
  record: Readonly<Record<string, string>>,
  keeps: (entry: readonly [string, string]) => boolean,
): Record<string, string> => Object.fromEntries(Object.entries(record).filter(keeps))

/** A known agent by its id; the check came before. */
function agentOf(talk: MessageLog, id: string): Agent {
  return talk.agents.find(({ agentId }) => agentId === id) ?? { agentId: id, agentType: 'unknown' }
}

type CalledOff = { readonly talk: MessageLog; readonly messages: readonly MessagePayload[] }

/** Calls a task or a review off for whoever still has it, by whoever gave it; work that nobody has needs no word. */
export function callOff(talk: MessageLog, name: string, reason: string): CalledOff {
  const given = openWork(talk, name)
  const asked = talk.said.find(({ messageId }) => messageId === given)
  if (asked === undefined) return { talk, messages: [] }
  const said = sendMessage(talk, {
    from: asked.from,
    to: asked.to,
    type: 'abort',
    payload: { scope: 'task', target_id: name, reason, cleanup_required: false },
  })
  if ('problems' in said) throw new Error(`a message breaks the protocol: ${said.problems.join('; ')}`)
  return { talk: said.talk, messages: [said.message] }
}

/** Calls off all work that nobody has reported on, the oldest first. */
export function callOffAll(talk: MessageLog, reason: string): CalledOff {
  const open = Object.entries({ ...talk.assignments, ...talk.reviews })
    .map(([name, messageId]) => ({ name, at: talk.said.findIndex((one) => one.messageId === messageId) }))
    .toSorted((a, b) => a.at - b.at)
  let now: CalledOff = { talk, messages: [] }
  for (const { name, at } of open) {
    // What is partly done stays assigned, and its completion was sent.
    const isReported = talk.said
      .slice(at + 1)
      .some(({ messageType, taskId }) => messageType === 'task_completion' && taskId === name)
    if (isReported) continue
    const next = callOff(now.talk, name, reason)
    now = { talk: next.talk, messages: [...now.messages, ...next.messages] }
  }
  return now
}
