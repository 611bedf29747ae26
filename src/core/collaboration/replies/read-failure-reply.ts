import { FailureReply } from '../../../contract/collaboration/replies.ts'
import { type Read, readReply } from './read-reply.ts'

/** What an architect decides about a task that failed. */
export const readFailureReply = (words: string): Read<FailureReply> =>
  readReply(words, { schema: FailureReply })
