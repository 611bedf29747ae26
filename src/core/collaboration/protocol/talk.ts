import type * as z from 'zod'
import type { EventOf } from '../../../contract/event.ts'
import type { MessageType } from '../../../contract/events/message.ts'
import type { messagePayloads } from '../../../contract/session-file/message-payloads.ts'
import type { Agent } from '../../../contract/values.ts'

/** A message that was said, as far as later ones depend on it. */
export type Said = {
  readonly messageId: string
  readonly messageType: MessageType
  readonly from: string
  readonly to: string
  readonly correlationId: string
  readonly taskId?: string
  readonly reviewId?: string
}

/** What a collaboration's messages have led to so far; plain data, so that it can be kept between steps. */
export type Talk = {
  readonly workflowId: string
  /** The id of the agent that coordinates. */
  readonly orchestrator: string
  readonly agents: readonly Agent[]
  readonly said: readonly Said[]
  /** Ids of assignments that wait for their completion, by task. */
  readonly assignments: Readonly<Record<string, string>>
  /** Ids of review requests that wait for their result, by review. */
  readonly reviews: Readonly<Record<string, string>>
  /** Tasks that ended without being done, so that they may be assigned again. */
  readonly reopened: readonly string[]
}

/** A message to be said, with the payload that its type has. */
export type Utterance = {
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

/** The beginning of a talk. */
export const newTalk = (workflowId: string, orchestrator: Agent, others: readonly Agent[]): Talk => ({
  workflowId,
  orchestrator: orchestrator.agentId,
  agents: [orchestrator, ...others],
  said: [],
  assignments: {},
  reviews: {},
  reopened: [],
})

/** One more agent takes part; one that is known already stays as it is. */
export const withAgent = (talk: Talk, agent: Agent): Talk =>
  talk.agents.some(({ agentId }) => agentId === agent.agentId)
    ? talk
    : { ...talk, agents: [...talk.agents, agent] }
