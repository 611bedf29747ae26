import type * as z from 'zod'
import { derivedSpan } from '../../contract/derived-ids.ts'
import type { Draft } from '../../contract/event.ts'
import type { Verdict } from '../../contract/values.ts'
import { freeName } from '../../core/collaboration/message-protocol.ts'
import { reviewPlace, roundVerdict } from '../../core/collaboration/review-rounds.ts'
import { type Assignment, withTaskId } from '../../core/delegation/assignment.ts'
import {
  assignedFact,
  assignmentMessage,
  completedFact,
  endMessage,
  failedFact,
  findingFacts,
  lineOf,
} from '../../core/delegation/delegation-facts.ts'
import type { DelegationResult } from '../../core/delegation/delegation-result.ts'
import type { Steps, WorkRoot } from '../../ports/durable.ts'
import { draftOf } from '../sessions/drafts.ts'
import type { Conversation, Said } from './conversation.ts'
import {
  anewIn,
  type Begun,
  type DelegationParts,
  delegationOf,
  type GivenWork,
  placeOf,
  stepName,
} from './given-work.ts'

/** Gives a task to somebody: the message and the fact at once, under a name that nothing else has, in a round of review. */
export async function assign(
  { talk, roundsAt }: DelegationParts,
  steps: Steps,
  given: GivenWork,
): Promise<Omit<Begun, 'start'>> {
  const name = stepName(given, 'assign')
  const assigned = (assignment: Assignment): Draft =>
    draftOf(
      { ...placeOf(steps, given, assignment.taskId), parentSpanId: given.parentSpanId },
      'agent.task.assigned',
      assignedFact(delegationOf(given, assignment)),
    )
  // Words are no message of the protocol: they wait for nobody's turn, and nothing depends on them.
  if (!('input' in given.assignment)) {
    const { assignment } = given
    await steps.step(name, async ({ tell }) => tell(assigned(assignment)), anewIn(given))
    return { assignment }
  }
  const input = given.assignment
  const { value, messageId } = await talk.record(steps, { name, ...anewIn(given) }, ({ log, rounds }) => {
    const assignment = withTaskId(input, (wanted) => freeName(log, wanted))
    const root = rounds.isOpen ? undefined : roundsAt()
    return {
      facts: [
        ...(root ? [roundStart(root, rounds.number + 1, given.maxIterations)] : []),
        assigned(assignment),
      ],
      words: assignmentMessage({ ...delegationOf(given, assignment), assignment }),
      value: {
        assignment,
        ...(assignment.kind === 'reviewer' && { review: given.review ?? reviewPlace(rounds) }),
      },
    }
  })
  return { ...value, messageId }
}

const roundStart = (root: WorkRoot, round: number, maxRounds: number | undefined): Draft =>
  draftOf(roundPlace(root, round), 'loop.round.started', {
    round,
    ...(maxRounds !== undefined && { maxRounds }),
  })

const roundPlace = (root: WorkRoot, round: number) => ({
  ...root,
  spanId: derivedSpan(`${root.sessionId} ${root.workflowId ?? ''} round ${round}`),
  parentSpanId: root.spanId,
})

type Reporting = {
  readonly given: GivenWork
  readonly begun: Begun
  readonly result: DelegationResult
  readonly step: string
}

/** Writes what came of the work, all at once: findings, the end of the task, the message, and the end of a round. */
export async function report(parts: DelegationParts, steps: Steps, reporting: Reporting): Promise<void> {
  const { given, begun, result, step } = reporting
  const { assignment } = begun
  const { taskId } = assignment
  const by = { ...placeOf(steps, given, taskId), actor: given.to.agentId }
  const { failure, output, summary } = result
  const { agentId } = given.to
  // A review that failed is not tried again by itself.
  const attempted = assignment.kind === 'reviewer' ? {} : { attempt: given.attempt ?? 1 }
  const facts: Draft[] = [
    ...findingFacts(taskId, output && 'verdict' in output ? output.findings : []).map((fact) =>
      draftOf(by, 'verifier.issue.found', fact),
    ),
    failure
      ? draftOf(by, 'task.failed', failedFact(agentId, failure, attempted))
      : draftOf(by, 'task.completed', completedFact(agentId, { summary, ...(output && { output }) })),
  ]
  if (!('input' in assignment)) {
    await steps.step(stepName(given, step), async ({ tell }) => tell(...facts), anewIn(given))
    return
  }
  // A reviewer that gave no verdict says nothing: its review is called off.
  const isSilent = assignment.kind === 'reviewer' && !output
  await parts.talk.record(steps, { name: stepName(given, step), ...anewIn(given) }, () => ({
    facts,
    words: output && endMessage(delegationOf(given, assignment), output),
    callOff: isSilent && failure ? { taskId, reason: lineOf(failure.error) } : undefined,
    // Where the reviews of a round are combined, whoever combines them closes it.
    after: (said) => (assignment.kind === 'reviewer' && !given.review ? roundEnd(parts, said, result) : []),
    value: null,
  }))
}

/** A round is over with its last review; where none of them gave a verdict it goes on. */
function roundEnd(
  { roundsAt }: DelegationParts,
  { log, rounds }: Said,
  { summary }: DelegationResult,
): Draft[] {
  const root = roundsAt()
  const verdict = roundVerdict(rounds)
  if (!root || !rounds.isOpen || verdict === undefined || Object.keys(log.reviews).length > 0) return []
  const { number: round } = rounds
  return [
    draftOf(roundPlace(root, round), 'loop.round.completed', { round, verdict, reason: lineOf(summary) }),
  ]
}

/** Ends a round whose verdict was not given by one review alone; one that is over already stays as it is. */
export async function closeRound(
  talk: Conversation,
  steps: Steps,
  {
    name,
    root,
    verdict,
    reason,
  }: {
    readonly name: string
    readonly root: WorkRoot
    readonly verdict?: z.infer<typeof Verdict> | undefined
    readonly reason: string
  },
): Promise<void> {
  await talk.record(steps, { name }, ({ rounds: { isOpen, number: round } }) => ({
    facts: isOpen
      ? [
          draftOf(roundPlace(root, round), 'loop.round.completed', {
            round,
            ...(verdict && { verdict }),
            reason: lineOf(reason),
          }),
        ]
      : [],
    value: null,
  }))
}
