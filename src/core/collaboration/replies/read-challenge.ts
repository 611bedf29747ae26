import { ChallengerReply } from '../../../contract/collaboration/replies.ts'
import { type Read, readReply } from './read-reply.ts'

/** What a challenger says of a plan. */
export const readChallenge = (words: string): Read<ChallengerReply> =>
  readReply(words, { schema: ChallengerReply })
