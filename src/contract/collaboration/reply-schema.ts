import * as z from 'zod'
import { Plan } from './plan.ts'
import { ChallengerReply, DeveloperReply, FailureReply, ReviewerReply } from './replies.ts'

const replies = {
  plan: Plan,
  developer: DeveloperReply,
  reviewer: ReviewerReply,
  failure: FailureReply,
  challenger: ChallengerReply,
} as const

/** Every answer that a collaboration asks an agent for. */
export type ReplyKind = keyof typeof replies

/** The JSON Schema of an answer, for models that can be held to one. */
export const replySchema = (kind: ReplyKind): Record<string, unknown> => {
  const { $schema: _, ...schema } = z.toJSONSchema(replies[kind], { io: 'input' })
  return schema
}
