import * as z from 'zod'

/** Everything that can be wrong with a session file: how bad it is and what it means. */
export const issueCodes = {
  too_deep: { severity: 'error', means: 'the file nests deeper than a session file may' },
  schema: { severity: 'error', means: 'a field is missing or has the wrong type or value' },
  no_sub_session: { severity: 'error', means: 'a multi_agent session needs at least one sub-session' },
  duplicate_id: { severity: 'error', means: 'two records of one owner have the same id' },
  parent_missing: { severity: 'error', means: 'a sub-session names a parent that is not in the file' },
  parent_cycle: { severity: 'error', means: 'sub-sessions are each other’s parents' },
  trigger_missing: {
    severity: 'error',
    means: 'the call that should have started a sub-session is not there',
  },
  trigger_not_delegation: {
    severity: 'error',
    means: 'the call that started a sub-session does not delegate',
  },
  sub_session_missing: {
    severity: 'error',
    means: 'a delegating call names a sub-session that is not there',
  },
  task_unlinked: { severity: 'error', means: 'a delegating call has no sub-session' },
  link_mismatch: { severity: 'error', means: 'a call names a sub-session that another call started' },
  agent_unknown: { severity: 'error', means: 'a message names an agent that takes no part' },
  reply_missing: { severity: 'error', means: 'a message answers one that is not in the file' },
  annotation_range: { severity: 'error', means: 'an annotation covers calls that are not in the file' },
  time_reversed: { severity: 'error', means: 'something ended before it began' },
  link_one_way: { severity: 'warning', means: 'a sub-session names its call, the call does not name it' },
  link_dangling: { severity: 'warning', means: 'a single session names a sub-session that is not in it' },
  trigger_shared: { severity: 'warning', means: 'one call started several sub-sessions' },
  agent_unlisted: { severity: 'warning', means: 'an agent is not among the participants' },
  reply_later: { severity: 'warning', means: 'a message answers a later one' },
  acknowledgment_reply: {
    severity: 'warning',
    means: 'an acknowledgment answers another message than it names',
  },
  correlation_single: { severity: 'warning', means: 'a correlation id has only one message' },
  sequence_duplicate: { severity: 'warning', means: 'two messages have one sequence number' },
  sequence_gap: { severity: 'warning', means: 'sequence numbers do not run from 1 without gaps' },
  unacknowledged: { severity: 'warning', means: 'an assignment was never acknowledged' },
  unassigned: { severity: 'warning', means: 'a task was completed that was not assigned, or not any more' },
  unrequested: { severity: 'warning', means: 'a review has a result that nobody had asked for' },
  task_unknown: { severity: 'warning', means: 'a task id names no task of the file' },
  finding_unknown: {
    severity: 'warning',
    means: 'a required change names a finding that is not in its review',
  },
  payload_shape: { severity: 'warning', means: 'a payload does not match its message type' },
  outside_owner: { severity: 'warning', means: 'a call or sub-session lies outside the time of its owner' },
  out_of_order: { severity: 'warning', means: 'calls are not in the order of their start' },
  duration_differs: { severity: 'warning', means: 'a duration differs from the times beside it' },
  count_differs: { severity: 'warning', means: 'a declared figure differs from what is recorded' },
  annotation_reversed: { severity: 'warning', means: 'an annotation ends before it begins' },
  category_differs: { severity: 'warning', means: 'a delegating call is not in the category interaction' },
  unknown_field: { severity: 'warning', means: 'a field the format does not document' },
  filename_differs: {
    severity: 'warning',
    means: 'the file name suggests another format than the content',
  },
  stem_differs: { severity: 'warning', means: 'the session_id is not the name of the file' },
} as const satisfies Record<string, { severity: 'error' | 'warning'; means: string }>
export type IssueCode = keyof typeof issueCodes

/** One thing wrong with a session file, and where (a JSON pointer). */
export const Issue = z.strictObject({
  path: z.string(),
  code: z.enum(Object.keys(issueCodes) as [IssueCode, ...IssueCode[]]),
  message: z.string(),
  severity: z.enum(['error', 'warning']),
})
export type Issue = z.infer<typeof Issue>

/** Says that something is wrong at a path. */
export type Report = (code: IssueCode, path: readonly PropertyKey[], message: string) => void

/** What the validator answers; valid means no errors. */
export const ValidationResult = z.strictObject({
  valid: z.boolean(),
  errors: z.array(Issue),
  warnings: z.array(Issue),
})
export type ValidationResult = z.infer<typeof ValidationResult>
