import { derivedUuid } from '../../../contract/derived-ids.ts'
import type { Agent } from '../../../contract/values.ts'
import { checkUtterance, shapeProblems } from './check-utterance.ts'
import { about, answeredBy, openReview } from './subject.ts'
import type { MessagePayload, Said, Talk, Utterance } from './talk.ts'

/** Why a message may not be said: it has another shape than its type, or it does not fit what was said before. */
export type Refused = {
  readonly problems: readonly string[]
  readonly errorType: 'malformed' | 'rejected'
}

export type Spoken = { readonly talk: Talk; readonly message: MessagePayload } | Refused

/**
 * Says a message: numbered without gaps, tied to its task and to what it answers. The same talk and the same
 * words give the same message, ids included, so that a step that is run again repeats what it said.
 */
export function say(talk: Talk, utterance: Utterance): Spoken {
  const problems = checkUtterance(talk, utterance)
  if (problems.length > 0)
    return { problems, errorType: shapeProblems(utterance).length > 0 ? 'malformed' : 'rejected' }
  const n = talk.said.length + 1
  const messageId = derivedUuid(`${talk.workflowId}\nmessage\n${n}`)
  const answered = answeredBy(talk, utterance)
  const subject = about(utterance)
  const correlationId =
    answered?.correlationId ?? derivedUuid(`${talk.workflowId}\n${subject.correlation ?? `message ${n}`}`)
  const said: Said = {
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
  return { talk: after(talk, utterance, said), message }
}

function after(talk: Talk, utterance: Utterance, said: Said): Talk {
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

function closeTask(talk: Talk, taskId: string, mayReturn: boolean): Talk {
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
function agentOf(talk: Talk, id: string): Agent {
  return talk.agents.find(({ agentId }) => agentId === id) ?? { agentId: id, agentType: 'unknown' }
}
