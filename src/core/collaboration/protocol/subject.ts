import { isRecord } from '../../json/json-value.ts'
import type { Said, Talk, Utterance } from './talk.ts'

/** What a message is about; all messages with one correlation belong together. */
export type Subject = {
  readonly taskId?: string
  readonly reviewId?: string
  readonly correlation?: string
}

/** What a message says of itself. */
export function about(utterance: Utterance): Subject {
  const taskId = taskOf(utterance)
  const reviewId = utterance.type.startsWith('review_') ? reviewIdOf(utterance) : undefined
  const correlation = reviewId === undefined ? taskId && `task ${taskId}` : `review ${reviewId}`
  return {
    ...(taskId === undefined ? {} : { taskId }),
    ...(reviewId === undefined ? {} : { reviewId }),
    ...(correlation ? { correlation } : {}),
  }
}

function taskOf(utterance: Utterance): string | undefined {
  if (utterance.type === 'abort')
    return utterance.payload.scope === 'task' ? utterance.payload.target_id : undefined
  if (utterance.type === 'status_query') return utterance.payload.subject_id
  return taskIdOf(utterance)
}

/** The task a message is about, wherever its payload says so. */
export function taskIdOf({ payload }: { readonly payload?: unknown }): string | undefined {
  if (!isRecord(payload)) return undefined
  const task = isRecord(payload['task']) ? payload['task']['task_id'] : undefined
  return filled(task) ?? filled(payload['task_id']) ?? filled(payload['related_task_id'])
}

/** The review a message is about. */
export const reviewIdOf = ({ payload }: { readonly payload?: unknown }): string | undefined =>
  isRecord(payload) ? filled(payload['review_id']) : undefined

const filled = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

/** The message that this one answers: named outright, or the open one that its payload belongs to. */
export function answeredBy(talk: Talk, utterance: Utterance): Said | undefined {
  const id = answeredId(talk, utterance)
  return id === undefined ? undefined : talk.said.find(({ messageId }) => messageId === id)
}

/** The id of what is answered, whether there is such a message or not. */
export function answeredId(talk: Talk, utterance: Utterance): string | undefined {
  if (utterance.replyTo !== undefined) return utterance.replyTo
  if (utterance.type === 'acknowledgment') return utterance.payload.acknowledged_message_id
  if (utterance.type === 'task_progress' || utterance.type === 'task_completion')
    return own(talk.assignments, utterance.payload.task_id)
  if (utterance.type === 'review_result') {
    const { review_id, task_id } = utterance.payload
    return openReview(talk, review_id ?? task_id)
  }
  return undefined
}

/** The open request of a review, by its own name or that of what is reviewed. */
export function openReview(talk: Talk, name: string | undefined): string | undefined {
  if (name === undefined) return undefined
  const named = own(talk.reviews, name)
  if (named !== undefined) return named
  return talk.said.findLast(
    ({ messageId, taskId }) => taskId === name && Object.values(talk.reviews).includes(messageId),
  )?.messageId
}

/** The message that gave somebody work that is still open: a task, or a review by its name. */
export const openWork = ({ assignments, reviews }: Talk, name: string): string | undefined =>
  own(assignments, name) ?? own(reviews, name)

/** A field that is really there, whatever the name is. */
export const own = (record: Readonly<Record<string, string>>, key: string): string | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined
