import * as z from 'zod'
import { FileChange, ReviewFinding } from '../session-file/outputs.ts'
import { Count, Millis, Verdict } from '../values.ts'

/** How a task of a collaboration stands. */
export const TaskState = z.enum(['pending', 'running', 'completed', 'partial', 'failed', 'cancelled'])
export type TaskState = z.infer<typeof TaskState>

/** How a collaboration ended. */
export const CrewOutcome = z.enum([
  'approved',
  'force_approved',
  'unapproved',
  'aborted',
  'failed',
  'cancelled',
])
export type CrewOutcome = z.infer<typeof CrewOutcome>

/** A check of the project as Muster ran it, or why it did not. */
export const CheckRun = z.strictObject({
  name: z.string(),
  command: z.string().optional(),
  required: z.boolean(),
  /** Null when it was not run. */
  passed: z.boolean().nullable(),
  because: z.string().optional(),
  output: z.string().optional(),
  duration_ms: Millis.optional(),
})
export type CheckRun = z.infer<typeof CheckRun>

/** One review and what came of it. */
export const CrewRound = z.strictObject({
  number: Count,
  verdict: Verdict,
  /** The reviewer's own verdict, where another one was taken. */
  said: Verdict.optional(),
  reasons: z.array(z.string()),
  summary: z.string(),
  findings: z.array(ReviewFinding),
  /** Ids of earlier findings that this review calls mended. */
  addressed: z.array(z.string()),
  /** What each of several reviewers said; null for one that gave no verdict. */
  reviews: z
    .array(z.strictObject({ agent_id: z.string(), verdict: Verdict.nullable(), summary: z.string() }))
    .optional(),
})
export type CrewRound = z.infer<typeof CrewRound>

/** One task with what git says it changed. */
export const CrewTask = z.strictObject({
  task_id: z.string(),
  title: z.string(),
  state: TaskState,
  files: z.array(FileChange),
  lines_added: Count,
  lines_removed: Count,
  summary: z.string().optional(),
  blockers: z.array(z.string()).optional(),
  /** Why it is not complete. */
  because: z.string().optional(),
  attempts: Count.optional(),
  duration_ms: Millis.optional(),
})
export type CrewTask = z.infer<typeof CrewTask>

/** One vote; null for a voter that abstains or gave none. */
export const Vote = z.strictObject({ voter: z.string(), choice: z.string().nullable(), reason: z.string() })
export type Vote = z.infer<typeof Vote>

/** One ballot of a consensus, and what came of it. */
export const Ballot = z.strictObject({
  number: Count,
  choices: z.array(z.string()),
  /** So many had to vote for one of the choices. */
  quorum: Count,
  votes: z.array(Vote),
  result: z.enum(['decided', 'tie', 'no_quorum']),
  /** What was decided. */
  choice: z.string().nullable(),
  /** The choices that had the same number of votes. */
  among: z.array(z.string()),
})
export type Ballot = z.infer<typeof Ballot>

/** How far peers agreed in the end. */
export const PeerAgreement = z.strictObject({
  agreed: z.boolean(),
  /** The version of the blackboard and the files that it is about. */
  version: Count,
  rounds: Count,
  board: z.string(),
  /** The version that each member last agreed with. */
  members: z.array(z.strictObject({ agent_id: z.string(), version: Count.nullable() })),
})
export type PeerAgreement = z.infer<typeof PeerAgreement>

/** Something that was asked for and not done. */
export const Skipped = z.strictObject({ what: z.string(), why: z.string() })
export type Skipped = z.infer<typeof Skipped>

/** What a crew leaves behind: the final report as data. */
export const CrewReport = z.strictObject({
  crew: z.string(),
  workflow_id: z.string(),
  request: z.string(),
  outcome: CrewOutcome,
  /** How it ended, in a sentence. */
  summary: z.string(),
  /** The report in the words of the architect. */
  words: z
    .strictObject({
      by: z.string(),
      text: z.string(),
      /** Claims in it that the facts do not bear out. */
      disputed: z.array(z.string()),
    })
    .optional(),
  branch: z.string().nullable(),
  base: z.string().nullable(),
  commit: z.string().nullable(),
  /** What the branch changes as a whole; tasks and their revisions may have changed the same file. */
  files: z.array(FileChange),
  lines_added: Count,
  lines_removed: Count,
  rounds: z.array(CrewRound),
  /** The ballots of a consensus. */
  ballots: z.array(Ballot).optional(),
  /** What peers came to. */
  agreement: PeerAgreement.optional(),
  tasks: z.array(CrewTask),
  checks: z.array(CheckRun),
  findings: z.strictObject({ open: z.array(ReviewFinding), mended: z.array(ReviewFinding) }),
  skipped: z.array(Skipped),
  /** Null where nobody told it. */
  cost_usd: z.number().nonnegative().nullable(),
  /** Some of it was computed with a price list. */
  cost_is_estimate: z.boolean().optional(),
  tokens: Count.nullable(),
  duration_ms: Millis,
  phases: z.array(z.strictObject({ phase: z.string(), duration_ms: Millis })),
})
export type CrewReport = z.infer<typeof CrewReport>
