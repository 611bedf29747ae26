import * as z from 'zod'
import { family } from '../event-definition.ts'
import { Count, JsonObject, Line } from '../values.ts'

export const journalEvents = family({
  'redaction.applied': {
    about: 'Counters of what redaction took out since the last such event.',
    span: 'point',
    payload: z.strictObject({ counts: z.record(z.string(), Count) }),
  },
  'journal.recovered': {
    about: 'Opening the journal cut an unfinished batch; the cut bytes are kept aside.',
    span: 'point',
    payload: z.strictObject({ segment: Line, cutBytes: Count, keptAs: Line, lastSeq: Count, reason: Line }),
  },
  'journal.pruned': {
    about: 'Old segments were removed after a baseline was written.',
    span: 'point',
    payload: z.strictObject({
      throughSeq: Count,
      segments: Count,
      baseline: Line,
      detail: JsonObject.optional(),
    }),
  },
  'journal.erased': {
    about: 'Lines were replaced by tombstones that keep their digests.',
    span: 'point',
    payload: z.strictObject({ seqs: z.array(Count), reason: Line, by: Line }),
  },
  'event.parked': {
    about: 'A projection or reactor threw on an event; it was set aside and the follower went on.',
    span: 'point',
    payload: z.strictObject({ follower: Line, seq: Count, error: Line }),
  },
})
