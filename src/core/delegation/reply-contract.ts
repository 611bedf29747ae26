import type { ReviewPlace } from '../collaboration/review-rounds.ts'
import type { Assignment } from './assignment.ts'
import type { ReplyResult } from './read-reply.ts'
import { readDeveloper, readReview } from './read-work-replies.ts'
import { readSchemaReply, schemaName } from './schema-reply.ts'
import { answerForm } from './work-prompts.ts'

/** What an answer is held to: how it is read, how its form is shown, and its name in a word. */
export type ReplyContract = {
  readonly read: (text: string) => ReplyResult<unknown>
  readonly form?: string
  readonly resultSchema: string
}

const anyRound: ReviewPlace = { round: 1, earlier: [], unfinished: [] }

/** The contract of an answer follows from what was given. */
export function contractOf(assignment: Assignment, review = anyRound): ReplyContract {
  switch (assignment.kind) {
    case 'developer':
      return { read: readDeveloper, form: answerForm('developer'), resultSchema: 'reply:developer' }
    case 'reviewer':
      return {
        read: (text) => readReview(text, review),
        form: answerForm('reviewer'),
        resultSchema: 'reply:reviewer',
      }
    case 'text':
      return { read: (text) => ({ value: text }), resultSchema: 'text' }
    case 'schema':
      return { read: readSchemaReply(assignment.schema), resultSchema: schemaName(assignment.schema) }
    default:
      return assignment satisfies never
  }
}
