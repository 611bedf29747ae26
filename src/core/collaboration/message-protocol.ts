import type * as z from 'zod'
import type { EventOf } from '../../contract/event.ts'
import type { MessageType } from '../../contract/events/message.ts'
import { messagePayloads, shapeFaults } from '../../contract/session-file/message-payloads.ts'
import type { Agent } from '../../contract/values.ts'
import { isRecord } from '../json/json-value.ts'

/** A message that was said, as far as later ones depend on it. */
export type LoggedMessage = {
  readonly messageId: string
  readonly messageType: MessageType
  readonly from: string
  readonly to: string
  readonly correlationId: string
  readonly taskId?: string
  readonly reviewId?: string
}

/** What a collaboration's messages have led to so far; plain data, so that it can be kept between steps. */
export type MessageLog = {
  readonly workflowId: string
  /** The ids of the agents that may give work; nothing where each may. */
  readonly coordinators?: readonly string[]
  readonly agents: readonly Agent[]
  readonly said: readonly LoggedMessage[]
  /** Ids of assignments that wait for their completion, by task. */
  readonly assignments: Readonly<Record<string, string>>
  /** Ids of review requests that wait for their result, by review. */
  readonly reviews: Readonly<Record<string, string>>
  /** Tasks that ended without being done, so that they may be assigned again. */
  readonly reopened: readonly string[]
}

/** A message to be said, with the payload that its type has. */
export type OutgoingMessage = {
  readonly [T in MessageType]: {
    readonly from: string
    readonly to: string
    readonly type: T
    readonly payload: z.input<(typeof messagePayloads)[T]>
    /** Needed only where the payload does not say what is answered. */
    readonly replyTo?: string
  }
}[MessageType]

export type MessagePayload = EventOf<'agent.message.created'>['payload']

/** Who takes part in a collaboration from its beginning. */
type Beginning = {
  /** Those that may give work to others; left out where each may, as among peers. */
  readonly coordinators?: readonly Agent[]
  readonly others: readonly Agent[]
}

/** A collaboration in which nothing was said yet. */
export const newMessageLog = (workflowId: string, { coordinators, others }: Beginning): MessageLog => ({
  workflowId,
  ...(coordinators && { coordinators: coordinators.map(({ agentId }) => agentId) }),
  agents: [...(coordinators ?? []), ...others],
  said: [],
  assignments: {},
  reviews: {},
  reopened: [],
})

/** One more agent takes part; one that is known already stays as it is. */
export const withAgent = (log: MessageLog, agent: Agent): MessageLog =>
  log.agents.some(({ agentId }) => agentId === agent.agentId)
    ? log
    : { ...log, agents: [...log.agents, agent] }

/** Why a message may not be said; nothing when it may. Whatever is given gets an answer. */
export function checkMessage(log: MessageLog, message: OutgoingMessage): string[] {
  const shape = shapeProblems(message)
  const people = [...unknownAgents(log, message), ...directions(log, message)]
  // What a payload means is only asked of one that can be read.
  return shape.length > 0 ? [...people, ...shape] : [...people, ...meanings(log, message)]
}

/** Where a payload has not the shape that its type gives it. */
export const shapeProblems = ({ type, payload }: OutgoingMessage): string[] =>
  shapeFaults(payload, messagePayloads[type]).map(
    ({ path, message: fault }) => `${['payload', ...path.map(String)].join('.')}: ${fault}`,
  )

function unknownAgents({ agents }: MessageLog, { from, to }: OutgoingMessage): string[] {
  const unknown = [...new Set([from, to])].filter((id) => !agents.some(({ agentId }) => agentId === id))
  if (unknown.length > 0) return unknown.map((id) => `${id} takes no part in this collaboration`)
  return from === to ? [`${from} cannot send a message to itself`] : []
}

/** Work and reviews are given by an agent that coordinates; results and news go to whoever gave the work. */
function directions(log: MessageLog, message: OutgoingMessage): string[] {
  const { type } = message
  switch (type) {
    case 'task_assignment':
    case 'review_request':
      return fromOneOf(message, log.coordinators)
    case 'abort': {
      // Among peers only whoever gave the work calls it off.
      const giver = message.payload.scope === 'task' ? giverOf(log, message.payload.target_id) : undefined
      return fromOneOf(message, log.coordinators ?? (giver === undefined ? undefined : [giver]))
    }
    case 'task_completion':
    case 'task_progress':
      return toOneOf(message, backTo(log, message.payload.task_id))
    case 'review_result':
      return toOneOf(message, backTo(log, message.payload.review_id ?? message.payload.task_id))
    case 'status_response': {
      const asker = queryOf(log, message)?.from
      return toOneOf(message, asker === undefined ? log.coordinators : [asker])
    }
    case 'feedback':
    case 'status_query':
    case 'acknowledgment':
      return []
    default:
      return type satisfies never
  }
}

const fromOneOf = ({ type, from }: OutgoingMessage, allowed: readonly string[] | undefined): string[] =>
  allowed === undefined || allowed.includes(from)
    ? []
    : [`${type === 'abort' ? 'an' : 'a'} ${type} comes from ${allowed.join(' or ')}, not from ${from}`]

const toOneOf = ({ type, to }: OutgoingMessage, allowed: readonly string[] | undefined): string[] =>
  allowed === undefined || allowed.includes(to)
    ? []
    : [`a ${type} goes to ${allowed.join(' or ')}, not to ${to}`]

/** Whoever has to hear of a piece of work. */
function backTo(log: MessageLog, name: string | undefined): readonly string[] | undefined {
  const giver = name === undefined ? undefined : giverOf(log, name)
  return giver === undefined ? log.coordinators : [giver]
}

/** Who gave a task, or asked for a review, that is still open. */
function giverOf(log: MessageLog, name: string): string | undefined {
  const id = ownField(log.assignments, name) ?? openReview(log, name)
  return log.said.find(({ messageId }) => messageId === id)?.from
}

const queryOf = ({ said }: MessageLog, { replyTo }: OutgoingMessage): LoggedMessage | undefined =>
  said.find(({ messageId, messageType }) => messageId === replyTo && messageType === 'status_query')

function meanings(log: MessageLog, message: OutgoingMessage): string[] {
  const { type, payload, from } = message
  const id = answeredId(log, message)
  const reply = id === undefined ? undefined : log.said.find(({ messageId }) => messageId === id)
  if (id !== undefined && !reply) return [`no message ${id} was sent that could be answered`]
  switch (type) {
    case 'task_assignment':
      return assignment(log, payload.task.task_id)
    case 'task_progress':
    case 'task_completion':
      return workReport(log, { type, from, taskId: payload.task_id })
    case 'review_request':
      return request(log, payload.review_id ?? payload.task_id)
    case 'review_result':
      return result(log, payload.review_id ?? payload.task_id, from)
    case 'acknowledgment':
      return reply && reply.to !== from
        ? [`${reply.messageId} was sent to ${reply.to}, so ${from} cannot acknowledge it`]
        : []
    case 'abort':
      return payload.scope === 'session' || openWork(log, payload.target_id) !== undefined
        ? []
        : [`${payload.target_id} is not an open task that could be cancelled`]
    case 'feedback':
    case 'status_query':
    case 'status_response':
      return []
    default:
      return type satisfies never
  }
}

function assignment({ said, assignments, reopened }: MessageLog, taskId: string): string[] {
  if (ownField(assignments, taskId) !== undefined) return [`${taskId} is assigned already`]
  const isKnown = said.some((each) => each.messageType === 'task_assignment' && each.taskId === taskId)
  return isKnown && !reopened.includes(taskId)
    ? [`${taskId} was assigned and done; give new work a new id`]
    : []
}

type Report = { readonly type: string; readonly from: string; readonly taskId: string }

function workReport(log: MessageLog, { type, from, taskId }: Report): string[] {
  const assigned = ownField(log.assignments, taskId)
  if (assigned === undefined) return [`${taskId} is not an open assignment, so it cannot have a ${type}`]
  const worker = log.said.find(({ messageId }) => messageId === assigned)?.to
  return worker === from ? [] : [`${taskId} is assigned to ${worker}, not to ${from}`]
}

const request = ({ reviews, said }: MessageLog, review: string): string[] =>
  ownField(reviews, review) !== undefined ||
  said.some((each) => each.messageType === 'review_request' && each.reviewId === review)
    ? [`the review ${review} was asked for already; give a new one a new review_id`]
    : []

function result(log: MessageLog, review: string | undefined, from: string): string[] {
  const asked = openReview(log, review)
  if (asked === undefined) return [`no review ${review ?? ''} is open, so it cannot have a result`]
  const reviewer = log.said.find(({ messageId }) => messageId === asked)?.to
  return reviewer === from ? [] : [`the review ${review} was asked of ${reviewer}, not of ${from}`]
}

/** What a message is about; all messages with one correlation belong together. */
type Subject = {
  readonly taskId?: string
  readonly reviewId?: string
  readonly correlation?: string
}

/** What a message says of itself. */
export function messageSubject(message: OutgoingMessage): Subject {
  const taskId = taskOf(message)
  const reviewId = message.type.startsWith('review_') ? reviewIdOf(message) : undefined
  const correlation = reviewId === undefined ? taskId && `task ${taskId}` : `review ${reviewId}`
  return {
    ...(taskId === undefined ? {} : { taskId }),
    ...(reviewId === undefined ? {} : { reviewId }),
    ...(correlation ? { correlation } : {}),
  }
}

function taskOf(message: OutgoingMessage): string | undefined {
  if (message.type === 'abort')
    return message.payload.scope === 'task' ? message.payload.target_id : undefined
  if (message.type === 'status_query') return message.payload.subject_id
  return taskIdOf(message)
}

/** The message that this one answers: named outright, or the open one that its payload belongs to. */
export function answeredBy(log: MessageLog, message: OutgoingMessage): LoggedMessage | undefined {
  const id = answeredId(log, message)
  return id === undefined ? undefined : log.said.find(({ messageId }) => messageId === id)
}

/** The id of what is answered, whether there is such a message or not. */
function answeredId(log: MessageLog, message: OutgoingMessage): string | undefined {
  if (message.replyTo !== undefined) return message.replyTo
  if (message.type === 'acknowledgment') return message.payload.acknowledged_message_id
  if (message.type === 'task_progress' || message.type === 'task_completion')
    return ownField(log.assignments, message.payload.task_id)
  if (message.type === 'review_result') {
    const { review_id, task_id } = message.payload
    return openReview(log, review_id ?? task_id)
  }
  return undefined
}

/** The open request of a review, by its own name or that of what is reviewed. */
export function openReview(log: MessageLog, name: string | undefined): string | undefined {
  if (name === undefined) return undefined
  const named = ownField(log.reviews, name)
  if (named !== undefined) return named
  return log.said.findLast(
    ({ messageId, taskId }) => taskId === name && Object.values(log.reviews).includes(messageId),
  )?.messageId
}

/** The message that gave somebody work that is still open: a task, or a review by its name. */
export const openWork = ({ assignments, reviews }: MessageLog, name: string): string | undefined =>
  ownField(assignments, name) ?? ownField(reviews, name)

/** A field that is really there, whatever the name is. */
const ownField = (record: Readonly<Record<string, string>>, key: string): string | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined

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

/** A name under which work may be given: the one that is wanted, or with a number behind it when it was used and is done. */
export function freeName(log: MessageLog, wanted: string): string {
  const used = new Set(log.said.flatMap(({ taskId, reviewId }) => [taskId, reviewId]))
  for (const name of log.reopened) used.delete(name)
  for (let n = 1; ; n++) {
    const name = n === 1 ? wanted : `${wanted}-${n}`
    if (!used.has(name)) return name
  }
}
