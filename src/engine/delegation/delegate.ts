import { derivedSpan } from '../../contract/derived-ids.ts'
import type { Draft } from '../../contract/event.ts'
import type { SpanId } from '../../contract/ids.ts'
import type { Agent } from '../../contract/values.ts'
import { freeName } from '../../core/collaboration/message-protocol.ts'
import { type ReviewPlace, reviewPlace, roundVerdict } from '../../core/collaboration/review-rounds.ts'
import { type Assignment, withTaskId } from '../../core/delegation/assignment.ts'
import {
  acknowledgment,
  assignedFact,
  assignmentMessage,
  completedFact,
  type Delegation,
  endMessage,
  failedFact,
  findingFacts,
  lineOf,
} from '../../core/delegation/delegation-facts.ts'
import { brokenResult, type DelegationResult, resultOf } from '../../core/delegation/delegation-result.ts'
import type { Allowed } from '../../core/delegation/gate-delegation.ts'
import { contractOf, type ReplyContract } from '../../core/delegation/reply-contract.ts'
import type { Clock } from '../../ports/clock.ts'
import { LimitReached, NotTheSame, type StepOptions, type Steps, type WorkRoot } from '../../ports/durable.ts'
import type { WorkEnd, Workers } from '../../ports/workers.ts'
import { draftOf } from '../sessions/drafts.ts'
import { askAgent, type Worker } from './ask-agent.ts'
import type { Conversation, Said } from './conversation.ts'
import { whileReporting } from './report-progress.ts'

/** What work is given with. */
export type DelegationParts = {
  readonly clock: Clock
  readonly workers: Workers
  readonly talk: Conversation
  /** Where the rounds of review hang. */
  readonly roundsAt: () => WorkRoot | undefined
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
  /** Where it works, a full path; each of its calls is gated there. */
  readonly folder: string
  readonly parentSpanId: SpanId
  /** How often it tells what it has changed so far. */
  readonly progressMs: number
  /** Told when the task was assigned. */
  readonly begun?: (task: BegunTask) => void
}

/** A task that somebody was given. */
export type BegunTask = { readonly taskId: string; readonly spanId: SpanId; readonly agentId: string }

/** What came of it. */
export type Delegated = DelegationResult & { readonly taskId: string; readonly end: WorkEnd | undefined }

/** The task as it was given: under a name that nothing else has, at its place in the rounds. */
type Begun = {
  readonly assignment: Assignment
  readonly review?: ReviewPlace
  readonly messageId?: string | undefined
}

/**
 * Gives work to an agent and sees it to its end: the assignment, the run, what its answer is worth, and the facts of
 * all that. Whatever throws ends the task as failed; a cancel and a reached limit pass through, and nothing is written.
 */
export async function delegate(parts: DelegationParts, steps: Steps, given: GivenWork): Promise<Delegated> {
  parts.talk.join(given.from)
  parts.talk.join({ agentId: given.to.agentId, agentType: given.to.role })
  const begun = await assign(parts, steps, given)
  const { taskId } = begun.assignment
  const { spanId } = placeOf(steps, given, taskId)
  given.begun?.({ taskId, spanId, agentId: given.to.agentId })
  let end: WorkEnd | undefined
  try {
    const answered = await run(parts, steps, { given, begun, ended: (how) => (end = how) })
    const result = resultOf(begun, { ...answered, files: answered.end.seen?.changes ?? [] })
    await report(parts, steps, { given, begun, result, step: 'end' })
    return { ...result, taskId, end: answered.end }
  } catch (error) {
    if (steps.signal.aborted || error instanceof LimitReached || error instanceof NotTheSame) throw error
    // Who was given work always reports on it.
    const result = brokenResult(begun.assignment, error)
    await report(parts, steps, { given, begun, result, step: 'end-broken' })
    return { ...result, taskId, end }
  }
}

const stepName = ({ name }: GivenWork, step: string): string =>
  name === undefined ? step : `${name}:${step}`

/** The step in which the agent works has the name of the work itself. */
const agentStep = ({ name = 'agent' }: GivenWork): string => name

/**
 * What a fork does anew: the work that it has not taken along, and of the rest what rounds and messages depend on.
 */
const anewIn = (given: GivenWork): StepOptions => ({
  again: 'input' in given.assignment ? true : { unless: agentStep(given) },
})

function placeOf(steps: Steps, given: GivenWork, taskId: string) {
  const spanId = derivedSpan(`${steps.id} ${stepName(given, 'task')}`)
  return { ...steps.root(), spanId, taskId }
}

const delegationOf = (given: GivenWork, assignment: Assignment): Delegation => ({
  ...given,
  assignment,
  from: given.from.agentId,
  to: given.to.agentId,
})

async function assign({ talk, roundsAt }: DelegationParts, steps: Steps, given: GivenWork): Promise<Begun> {
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
      value: { assignment, ...(assignment.kind === 'reviewer' && { review: reviewPlace(rounds) }) },
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

type Running = {
  readonly given: GivenWork
  readonly begun: Begun
  readonly ended: (end: WorkEnd) => void
}

function run(parts: DelegationParts, steps: Steps, { given, begun, ended }: Running) {
  const { talk, clock, onBug } = parts
  const { assignment, messageId, review } = begun
  const { taskId } = assignment
  const { allowed, to, from } = given
  const { read, form, resultSchema } = given.contract ?? contractOf(assignment, review)
  const delegation = delegationOf(given, assignment)
  const acknowledge = (id: string) =>
    talk.record(steps, { name: stepName(given, 'acknowledge'), ...anewIn(given) }, () => ({
      words: acknowledgment(delegation, id),
      value: null,
    }))
  const changed = new Set<string>()
  let changes = 0
  const act = async () => {
    const answered = await askAgent(parts, steps, {
      at: placeOf(steps, given, taskId),
      question: {
        name: agentStep(given),
        who: to,
        prompt: given.prompt,
        read,
        form,
        resultSchema,
        folder: given.folder,
        scopes: allowed.scopes,
        tools: allowed.tools,
        timeoutMs: allowed.timeoutMs,
        taskId,
        about: given.about ?? taskId,
        messageId,
        changed(paths) {
          changes += 1
          for (const path of paths) changed.add(path)
        },
        ...(messageId !== undefined && { taken: () => acknowledge(messageId) }),
        options: anewIn(given),
      },
    })
    ended(answered.end)
    return answered
  }
  if (assignment.kind !== 'developer') return act()
  const reported = {
    taskId,
    from: from.agentId,
    to: to.agentId,
    everyMs: given.progressMs,
    isAtWork: () => true,
    look: async () => ({ files: [...changed], sign: `${changes}` }),
  }
  return whileReporting({ clock, talk, steps, onBug }, reported, act)
}

type Reporting = {
  readonly given: GivenWork
  readonly begun: Begun
  readonly result: DelegationResult
  readonly step: string
}

/** What came of the work, all at once: findings, the end of the task, the message, and the end of a round. */
async function report(parts: DelegationParts, steps: Steps, reporting: Reporting): Promise<void> {
  const { given, begun, result, step } = reporting
  const { assignment } = begun
  const { taskId } = assignment
  const by = { ...placeOf(steps, given, taskId), actor: given.to.agentId }
  const { failure, output, summary } = result
  const { agentId } = given.to
  const facts: Draft[] = [
    ...findingFacts(taskId, output && 'verdict' in output ? output.findings : []).map((fact) =>
      draftOf(by, 'verifier.issue.found', fact),
    ),
    failure
      ? draftOf(by, 'task.failed', failedFact(agentId, failure, { attempt: 1 }))
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
    after: (said) => (assignment.kind === 'reviewer' ? roundEnd(parts, said, result) : []),
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
