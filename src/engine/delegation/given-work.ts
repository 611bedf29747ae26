import type { CheckRun } from '../../contract/collaboration/crew-report.ts'
import { derivedSpan } from '../../contract/derived-ids.ts'
import type { SpanId } from '../../contract/ids.ts'
import type { Agent } from '../../contract/values.ts'
import type { ReviewPlace } from '../../core/collaboration/review-rounds.ts'
import type { Assignment } from '../../core/delegation/assignment.ts'
import type { Delegation } from '../../core/delegation/delegation-facts.ts'
import type { Allowed } from '../../core/delegation/gate-delegation.ts'
import type { ReplyContract } from '../../core/delegation/reply-contract.ts'
import type { Branches } from '../../ports/branches.ts'
import type { Checks } from '../../ports/checks.ts'
import type { Clock } from '../../ports/clock.ts'
import type { StepOptions, Steps, WorkRoot } from '../../ports/durable.ts'
import type { Workers } from '../../ports/workers.ts'
import type { Worker } from './ask-agent.ts'
import type { Conversation } from './conversation.ts'
import type { Place } from './place.ts'
import type { WorkChecks } from './run-checks.ts'

/** What work is given with. */
export type DelegationParts = {
  readonly clock: Clock
  readonly workers: Workers
  readonly talk: Conversation
  /** Where the rounds of review hang. */
  readonly roundsAt: () => WorkRoot | undefined
  /** For places that git keeps. */
  readonly branches?: Branches
  readonly checks?: Checks
  readonly onBug: (error: unknown, where: string) => void
}

/** Work that one agent gives to another: read and gated already. */
export type GivenWork = Pick<Delegation, 'about' | 'priority' | 'dependencies' | 'maxIterations'> & {
  /** Comes before the names of its steps, where those of other work are beside them. */
  readonly name?: string
  readonly assignment: Assignment
  readonly allowed: Allowed
  readonly from: Agent
  readonly to: Worker
  /** How its answer is read, where that does not follow from the assignment. */
  readonly contract?: ReplyContract
  /** The words by which it gets the work. */
  readonly prompt: string
  readonly place: Place
  /** What Muster runs on work that is said to be done. */
  readonly checks?: WorkChecks
  /** Which attempt at the task it is, of those that may be tried again. */
  readonly attempt?: number
  /** What was run on the work that is reviewed, and its place among the reviews; else what the facts tell. */
  readonly review?: ReviewPlace & { readonly ran: readonly CheckRun[] }
  readonly parentSpanId: SpanId
  /** How often it tells what it has changed so far. */
  readonly progressMs: number
  /** Told when the task was assigned. */
  readonly begun?: (task: BegunTask) => void
}

/** A task that somebody was given. */
export type BegunTask = {
  readonly taskId: string
  readonly spanId: SpanId
  readonly agentId: string
  /** The commit that it began at, where git keeps its place. */
  readonly start: string | undefined
}

/** The task as it was given: under its name, at its place in the rounds. */
export type Begun = {
  readonly assignment: Assignment
  readonly start: string | undefined
  readonly review?: ReviewPlace | undefined
  readonly messageId?: string | undefined
}

/** The name of one of the steps of the work. */
export const stepName = ({ name }: GivenWork, step: string): string =>
  name === undefined ? step : `${name}:${step}`

/** The step in which the agent works has the name of the work itself. */
export const agentStep = ({ name = 'agent' }: GivenWork): string => name

/**
 * What a fork does anew: the work that it has not taken along, and of the rest what rounds and messages depend on.
 */
export const anewIn = (given: GivenWork): StepOptions => ({
  again: 'input' in given.assignment ? true : { unless: agentStep(given) },
})

/** Where the facts of the task belong. */
export function placeOf(steps: Steps, given: GivenWork, taskId: string) {
  const spanId = derivedSpan(`${steps.id} ${stepName(given, 'task')}`)
  return { ...steps.root(), spanId, taskId }
}

export const delegationOf = (given: GivenWork, assignment: Assignment): Delegation => ({
  ...given,
  assignment,
  from: given.from.agentId,
  to: given.to.agentId,
})
