import type { CheckRun } from '../../contract/collaboration/crew-report.ts'
import type { DeveloperReply, ReviewerReply } from '../../contract/collaboration/replies.ts'
import type { DeveloperOutput, FileChange, ReviewerOutput } from '../../contract/session-file/outputs.ts'
import type { ReviewPlace } from '../collaboration/review-rounds.ts'
import type { Assignment } from './assignment.ts'
import { developerOutcome, reviewerOutcome } from './delegation-outcome.ts'
import { developerOutput } from './developer-work.ts'
import { developerChecks, reviewerChecks, type SeenCommand } from './seen-checks.ts'
import { type TaskFailure, taskFailure } from './task-failure.ts'

type Ended = {
  readonly status: 'completed' | 'failed' | 'timeout'
  readonly text: string
  readonly reason?: string | undefined
  readonly isSpent?: boolean
  readonly seen?: { readonly commands: readonly SeenCommand[] }
}

type Given = { readonly assignment: Assignment; readonly review?: ReviewPlace | undefined }

type Answer = {
  readonly end: Ended
  /** Nothing when its words do not fit, though they were asked for once more. */
  readonly reply: unknown
  readonly problems?: readonly string[]
  readonly files: readonly SeenChange[]
  /** What git shows besides. */
  readonly outside?: readonly string[]
  readonly left?: readonly string[]
  /** What Muster ran on the work. */
  readonly ran?: readonly CheckRun[] | undefined
}

/** A file that a call or git shows as changed. */
type SeenChange = {
  readonly path: string
  readonly change: 'created' | 'modified' | 'deleted'
  readonly linesAdded?: number
  readonly linesRemoved?: number
}

/** What work that was given came to. */
export type DelegationResult = {
  readonly state: 'completed' | 'partial' | 'failed'
  readonly summary: string
  readonly output?: DeveloperOutput | ReviewerOutput
  /** The answer as data: what was asked for in a schema, or a review in its own words. */
  readonly value?: unknown
  readonly failure?: TaskFailure
  /** What whoever gave the work has to know beside the words of the answer. */
  readonly notes: readonly string[]
}

/** What an answer is worth: by the form that was asked for, what was seen of the work, and the rules. */
export function resultOf({ assignment, review }: Given, answer: Answer): DelegationResult {
  switch (assignment.kind) {
    case 'developer':
      return ofDeveloper(assignment, answer)
    case 'reviewer':
      return ofReviewer(assignment, review ?? { round: 1, earlier: [], unfinished: [] }, answer)
    default:
      return ofWords(answer)
  }
}

function ofDeveloper(
  assignment: Extract<Assignment, { kind: 'developer' }>,
  { end, reply, files, outside = [], left = [], ran = [] }: Answer,
): DelegationResult {
  const isRun = (name: string) => ran.some((check) => check.name === name)
  const seen = developerChecks(end.seen?.commands ?? []).filter(({ name }) => !isRun(name))
  const { state, output, failure } = developerOutcome(assignment, {
    end,
    reply: reply as DeveloperReply | undefined,
    files: filesOf(files),
    outside,
    left,
    checks: [...ran, ...seen],
  })
  const isUnread = end.status === 'completed' && reply === undefined
  return {
    state,
    summary: output.summary,
    output,
    ...(failure && { failure }),
    notes: isUnread
      ? ['Its answer does not have the form that was asked for; the task counts as partly done.']
      : [],
  }
}

function ofReviewer(
  assignment: Extract<Assignment, { kind: 'reviewer' }>,
  { earlier, unfinished }: ReviewPlace,
  { end, reply, ran }: Answer,
): DelegationResult {
  const outcome = reviewerOutcome(assignment, {
    end,
    reply: reply as ReviewerReply | undefined,
    checks: ran ?? reviewerChecks(assignment.input.criteria, end.seen?.commands ?? []),
    earlier,
    unfinished,
  })
  if ('failure' in outcome) {
    const { failure } = outcome
    const why = `The review gave no verdict that counts: ${failure.error}`
    return {
      state: 'failed',
      summary: failure.error,
      failure,
      notes: end.status === 'completed' ? [why] : [],
    }
  }
  const { output, judgement } = outcome
  const { said, verdict, reasons } = judgement
  return {
    state: 'completed',
    summary: output.summary,
    output,
    value: outcome.reply,
    notes: said === verdict ? [] : [`The verdict counts as ${verdict}: ${reasons.join('; ')}.`],
  }
}

function ofWords({ end, reply, problems = [] }: Answer): DelegationResult {
  const failure = taskFailure({ end, reply: undefined, scope: [], outside: [], left: [] })
  if (failure) return { state: 'failed', summary: end.text || failure.error, failure, notes: [] }
  if (reply !== undefined) return { state: 'completed', summary: end.text, value: reply, notes: [] }
  const error = `its answer does not match the schema: ${problems.join('; ')}`
  return { state: 'failed', summary: end.text, failure: { kind: 'exception', error }, notes: [] }
}

const filesOf = (files: readonly SeenChange[]): FileChange[] => {
  const last = new Map<string, FileChange>()
  for (const { path, change, linesAdded = 0, linesRemoved = 0 } of files) {
    const before = last.get(path)
    last.set(path, {
      path,
      change_type: before?.change_type === 'created' && change === 'modified' ? 'created' : change,
      lines_added: (before?.lines_added ?? 0) + linesAdded,
      lines_removed: (before?.lines_removed ?? 0) + linesRemoved,
    })
  }
  return [...last.values()]
}

/** Work that something threw in: a folder, a commit, a message that was refused. */
export function brokenResult(assignment: Assignment, error: unknown): DelegationResult {
  const text = error instanceof Error ? error.message : String(error)
  const failure: TaskFailure = { kind: 'exception', error: text }
  const output =
    assignment.kind === 'developer'
      ? developerOutput(assignment.taskId, { status: 'failed', summary: text }, [])
      : undefined
  return { state: 'failed', summary: text, failure, notes: [], ...(output && { output }) }
}
