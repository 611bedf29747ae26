import * as z from 'zod'
import { event } from '../event-definition.ts'
import { TrustedFile } from '../project-trust.ts'
import { Count, Line } from '../values.ts'

export const journalEvents = {
  'redaction.applied': event({
    about: 'Counters of what redaction removed since the last such event.',
    reporter: 'daemon',
    title: ({ payload: p }) => Object.entries(p.counts).map(([rule, n]) => `${rule} ${n}`),
    payload: z.strictObject({ counts: z.record(z.string(), Count) }),
  }),
  'journal.recovered': event({
    about: 'Opening the journal cut an unfinished batch; the cut bytes are kept aside.',
    reporter: 'daemon',
    title: ({ payload: p }) => [p.segment, p.reason],
    payload: z.strictObject({ segment: Line, cutBytes: Count, keptAs: Line, lastSeq: Count, reason: Line }),
  }),
  'journal.damaged': event({
    about: 'A start found files of the journal that are not as they were left; the first of them by name.',
    reporter: 'daemon',
    title: ({ payload: p }) => [p.count, 'files;', p.files[0]?.file ?? '', p.files[0]?.reason ?? ''],
    payload: z.strictObject({
      count: Count,
      files: z.array(z.strictObject({ file: Line, reason: Line })),
    }),
  }),
  'journal.erased': event({
    about:
      'Lines were replaced by tombstones that keep their digests, as damaged ones are when they are set aside.',
    reporter: 'daemon',
    title: ({ payload: p }) => [p.seqs.length, p.reason],
    payload: z.strictObject({ seqs: z.array(Count), reason: Line, by: Line }),
  }),
  'authority.lapsed': event({
    about: 'What a journal of before allowed without saying who did so is no longer in force.',
    reporter: 'daemon',
    sm: {
      words: ['lapsed'],
      says: ({ payload: { grants } }) =>
        `: ${grants} ${grants === 1 ? 'permit or raised budget' : 'permits and raised budgets'} of an older journal ${grants === 1 ? 'is' : 'are'} no longer in force; give ${grants === 1 ? 'it' : 'them'} again`,
    },
    title: ({ payload: p }) => [p.grants, 'permits and raised budgets; give them again'],
    payload: z.strictObject({ grants: Count }),
  }),
  'project.trusted': event({
    about: 'A person lets these files of a project, as they are now, run programs and loosen rules.',
    reporter: 'daemon',
    title: ({ payload: p }) => [p.root, p.files.length, 'files'],
    payload: z.strictObject({ root: Line, files: z.array(TrustedFile), by: Line }),
  }),
  'project.trust.ended': event({
    about: 'A project, or one file of it that changed, is no longer trusted.',
    reporter: 'daemon',
    title: ({ payload: p }) => [p.root, p.file, p.reason],
    payload: z.strictObject({
      root: Line,
      /** All of them when left out. */
      file: Line.optional(),
      reason: z.enum(['changed', 'removed']),
      by: Line,
    }),
  }),
  'event.parked': event({
    about: 'A projection or reactor threw on an event; it was set aside and the follower continued.',
    reporter: 'daemon',
    title: ({ payload: p }) => [p.follower, p.seq, p.error],
    payload: z.strictObject({ follower: Line, seq: Count, error: Line }),
  }),
}
