import { messagePayloads, shapeFaults } from '../../../contract/session-file/message-payloads.ts'
import { answeredId, openReview, openWork, own } from './subject.ts'
import type { Said, Talk, Utterance } from './talk.ts'

/** Why a message may not be said; nothing when it may. Whatever is given gets an answer. */
export function checkUtterance(talk: Talk, utterance: Utterance): string[] {
  const shape = shapeProblems(utterance)
  const people = [...unknownAgents(talk, utterance), ...directions(talk, utterance)]
  // What a payload means is only asked of one that can be read.
  return shape.length > 0 ? [...people, ...shape] : [...people, ...meanings(talk, utterance)]
}

/** Where a payload has not the shape that its type gives it. */
export const shapeProblems = ({ type, payload }: Utterance): string[] =>
  shapeFaults(payload, messagePayloads[type]).map(
    ({ path, message }) => `${['payload', ...path.map(String)].join('.')}: ${message}`,
  )

function unknownAgents({ agents }: Talk, { from, to }: Utterance): string[] {
  const unknown = [...new Set([from, to])].filter((id) => !agents.some(({ agentId }) => agentId === id))
  if (unknown.length > 0) return unknown.map((id) => `${id} takes no part in this collaboration`)
  return from === to ? [`${from} cannot send a message to itself`] : []
}

/** Work and reviews are given by the one who coordinates, and results and news come back to it. */
function directions(talk: Talk, utterance: Utterance): string[] {
  const { type, from, to } = utterance
  const { orchestrator } = talk
  switch (type) {
    case 'task_assignment':
    case 'review_request':
    case 'abort':
      return from === orchestrator ? [] : [`a ${type} comes from ${orchestrator}, not from ${from}`]
    case 'task_completion':
    case 'review_result':
    case 'task_progress':
      return to === orchestrator ? [] : [`a ${type} goes to ${orchestrator}, not to ${to}`]
    case 'status_response': {
      const asker = queryOf(talk, utterance)?.from ?? orchestrator
      return to === asker ? [] : [`a status_response goes to ${asker}, not to ${to}`]
    }
    case 'feedback':
    case 'status_query':
    case 'acknowledgment':
      return []
    default:
      return type satisfies never
  }
}

const queryOf = ({ said }: Talk, { replyTo }: Utterance): Said | undefined =>
  said.find(({ messageId, messageType }) => messageId === replyTo && messageType === 'status_query')

function meanings(talk: Talk, utterance: Utterance): string[] {
  const { type, payload, from } = utterance
  const id = answeredId(talk, utterance)
  const reply = id === undefined ? undefined : talk.said.find(({ messageId }) => messageId === id)
  if (id !== undefined && !reply) return [`no message ${id} was sent that could be answered`]
  switch (type) {
    case 'task_assignment':
      return assignment(talk, payload.task.task_id)
    case 'task_progress':
    case 'task_completion':
      return workReport(talk, { type, from, taskId: payload.task_id })
    case 'review_request':
      return request(talk, payload.review_id ?? payload.task_id)
    case 'review_result':
      return result(talk, payload.review_id ?? payload.task_id, from)
    case 'acknowledgment':
      return reply && reply.to !== from
        ? [`${reply.messageId} was sent to ${reply.to}, so ${from} cannot acknowledge it`]
        : []
    case 'abort':
      return payload.scope === 'session' || openWork(talk, payload.target_id) !== undefined
        ? []
        : [`${payload.target_id} is no open task that could be called off`]
    case 'feedback':
    case 'status_query':
    case 'status_response':
      return []
    default:
      return type satisfies never
  }
}

function assignment({ said, assignments, reopened }: Talk, taskId: string): string[] {
  if (own(assignments, taskId) !== undefined) return [`${taskId} is assigned already`]
  const isKnown = said.some((each) => each.messageType === 'task_assignment' && each.taskId === taskId)
  return isKnown && !reopened.includes(taskId)
    ? [`${taskId} was assigned and done; give new work a new id`]
    : []
}

type Report = { readonly type: string; readonly from: string; readonly taskId: string }

function workReport(talk: Talk, { type, from, taskId }: Report): string[] {
  const assigned = own(talk.assignments, taskId)
  if (assigned === undefined) return [`${taskId} is no open assignment, so there is no ${type} of it`]
  const worker = talk.said.find(({ messageId }) => messageId === assigned)?.to
  return worker === from ? [] : [`${taskId} is assigned to ${worker}, not to ${from}`]
}

const request = ({ reviews, said }: Talk, review: string): string[] =>
  own(reviews, review) !== undefined ||
  said.some((each) => each.messageType === 'review_request' && each.reviewId === review)
    ? [`the review ${review} was asked for already; give a new one a new review_id`]
    : []

function result(talk: Talk, review: string | undefined, from: string): string[] {
  const asked = openReview(talk, review)
  if (asked === undefined) return [`no review ${review ?? ''} is open, so there is no result of it`]
  const reviewer = talk.said.find(({ messageId }) => messageId === asked)?.to
  return reviewer === from ? [] : [`the review ${review} was asked of ${reviewer}, not of ${from}`]
}
