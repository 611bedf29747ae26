import type { PayloadOf } from '../../contract/event.ts'
import type { DeveloperOutput, ReviewerOutput, ReviewFinding } from '../../contract/session-file/outputs.ts'
import type { OutgoingMessage } from '../collaboration/message-protocol.ts'
import type { Assignment, InputAssignment } from './assignment.ts'
import { suggestedAction, type TaskFailure } from './task-failure.ts'

/** Work that was given to somebody. */
export type Delegation = {
  readonly assignment: Assignment
  readonly from: string
  readonly to: string
  /** What it is about where its input does not say it in a sentence. */
  readonly about?: string
  readonly priority?: 'high' | 'medium' | 'low'
  readonly dependencies?: readonly string[]
  /** How many rounds of review its work may go through. */
  readonly maxIterations?: number
}

/** `agent.task.assigned`: who was given what, with the input as it was read. */
export function assignedFact(given: Delegation): PayloadOf<'agent.task.assigned'> {
  const { assignment, from, to, priority, dependencies } = given
  return {
    taskId: assignment.taskId,
    description: given.about ?? wordsOf(assignment),
    ...(priority && { priority }),
    ...(dependencies && { dependencies: [...dependencies] }),
    agentId: to,
    assignedBy: from,
    ...('input' in assignment && { input: assignment.input }),
  }
}

function wordsOf(assignment: Assignment): string {
  if (assignment.kind === 'developer') return assignment.input.task_description
  return assignment.kind === 'reviewer' ? `Review of ${assignment.input.task_id}` : assignment.prompt
}

/** The message that hands over an input; words have none of the protocol's. */
export function assignmentMessage(
  given: Delegation & { readonly assignment: InputAssignment },
): OutgoingMessage {
  const { assignment, from, to, priority, maxIterations: max_iterations } = given
  if (assignment.kind === 'reviewer') return { from, to, type: 'review_request', payload: assignment.input }
  const payload = {
    task: assignment.input,
    ...(priority && { priority }),
    ...(max_iterations !== undefined && { max_iterations }),
  }
  return { from, to, type: 'task_assignment', payload }
}

type Ways = Pick<Delegation, 'from' | 'to'>

/** Whoever was given work says that it has it. */
export const acknowledgment = ({ from, to }: Ways, messageId: string): OutgoingMessage => ({
  from: to,
  to: from,
  type: 'acknowledgment',
  payload: { acknowledged_message_id: messageId, accepted: true },
})

/** What came of the work, for whoever gave it. */
export const endMessage = ({ from, to }: Ways, output: DeveloperOutput | ReviewerOutput): OutgoingMessage =>
  'verdict' in output
    ? { from: to, to: from, type: 'review_result', payload: output }
    : { from: to, to: from, type: 'task_completion', payload: output }

const mostReason = 1000
const mostSummary = 2000

/** `task.completed`: the end of work that was done. */
export const completedFact = (
  agentId: string,
  { summary, ...more }: { readonly summary: string; readonly output?: DeveloperOutput | ReviewerOutput },
): PayloadOf<'task.completed'> => ({ agentId, summary: summary.slice(0, mostSummary), ...more })

/** `task.failed`: why, and what may be done about it where it can be tried again. */
export const failedFact = (
  agentId: string,
  { kind, error }: Pick<TaskFailure, 'kind' | 'error'>,
  { attempt }: { readonly attempt?: number } = {},
): PayloadOf<'task.failed'> => ({
  agentId,
  reason: lineOf(error),
  errorType: kind,
  recoverable: attempt !== undefined,
  ...(attempt !== undefined && { suggestedAction: suggestedAction(kind, attempt) }),
})

/** A reason as one line. */
export const lineOf = (text: string): string => text.replaceAll(/\s+/g, ' ').slice(0, mostReason)

/** `verifier.issue.found`, one for each finding of a review. */
export const findingFacts = (
  reviewId: string,
  findings: readonly ReviewFinding[],
): PayloadOf<'verifier.issue.found'>[] =>
  findings.map(({ finding_id, severity, category, description, file, line, suggestion, rationale }) => ({
    findingId: finding_id,
    severity,
    category,
    description,
    reviewId,
    ...(file && { file }),
    ...(line !== undefined && { line }),
    ...(suggestion !== undefined && { suggestion }),
    ...(rationale !== undefined && { rationale }),
  }))
