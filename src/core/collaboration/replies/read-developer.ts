import { DeveloperReply } from '../../../contract/collaboration/replies.ts'
import { developerOutput, developerStatuses } from '../../delegation/read-outputs.ts'
import { knownWord } from '../../json/field-kinds.ts'
import { root } from '../../json/json-value.ts'
import { type Read, readReply } from './read-reply.ts'

const mostProse = 4000

/** What a developer ends its words with; other words for a status, and notes, are understood. */
export const readDeveloper = (words: string): Read<DeveloperReply> =>
  readReply(words, {
    schema: DeveloperReply,
    translate: (value) => developerOutput({ value, place: root, log: () => {} }, ''),
    // The reader of session files would take a missing or strange word as partial; here it can be asked for.
    check: (_, said) =>
      knownWord(said['status'], developerStatuses) === undefined
        ? ['status: expected completed, partial or failed']
        : [],
  })

/** A developer that never gave its answer as data: its work counts, but as unfinished. */
export const developerFromProse = (words: string): DeveloperReply => ({
  status: 'partial',
  summary: words.trim().slice(-mostProse),
  blockers: ['the developer did not answer in the form that was asked for'],
})
