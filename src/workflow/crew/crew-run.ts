import type {
  Ballot,
  CheckRun,
  CrewOutcome,
  CrewRound,
  PeerAgreement,
  Skipped,
} from '../../contract/collaboration/crew-report.ts'
import type { SpanId } from '../../contract/ids.ts'
import type { ReviewFinding } from '../../contract/session-file/outputs.ts'
import type { Agent } from '../../contract/values.ts'
import type { DoneTask } from '../../core/collaboration/crew-report.ts'
import { Conversation } from '../../engine/delegation/conversation.ts'
import type { DelegationParts } from '../../engine/delegation/given-work.ts'
import type { Place } from '../../engine/delegation/place.ts'
import type { Flow, Procedure } from '../../ports/durable.ts'
import {
  type CrewInput,
  type CrewParts,
  developerMs,
  reviewerMs,
  type Someone,
  treeOf,
} from './crew-parts.ts'
import { CrewPhases, type Failing } from './crew-phases.ts'
import { type Reviewed, type ReviewRound, reviewProcedure } from './crew-review.ts'
import { type Attempt, type Attempted, taskProcedure } from './crew-task.ts'

/** How the work of a crew ended, in a word and in a sentence. */
export type Ending = {
  readonly outcome: CrewOutcome
  readonly summary: string
  /** What was asked for is in words, and no file has to have changed. */
  readonly isAnswer?: boolean
}

/** What a run works with, and how all who work for it are stopped. */
type RunParts = CrewParts & {
  readonly stopAll: (why: unknown) => void
  /** Whether somebody may still be asked something. */
  readonly isWithinLimits: () => Promise<boolean>
  /** The span that its phases hang under. */
  readonly approved: SpanId
}

/** Work that was begun: its branch, and where and since when it is done, while somebody is at it. */
type OpenedWork = {
  readonly branch: string
  readonly work?: {
    readonly place: Exclude<Place, { readonly kind: 'shared' }>
    readonly start: string
    readonly scopes: readonly (readonly string[])[]
  }
}

/** What has come of a run so far. */
export type CrewState = {
  readonly rounds: CrewRound[]
  readonly tasks: Map<string, DoneTask>
  readonly skipped: Skipped[]
  readonly ballots: Ballot[]
  agreement?: PeerAgreement
  checks: readonly CheckRun[]
  /** What the last review left to be fixed. */
  toFix: readonly ReviewFinding[]
}

/** Who orchestrates a crew that has no architect. */
const nobody = 'crew'

/** One run of a crew: who takes part, where it works, and what has come of it so far. */
export class CrewRun {
  readonly parts: RunParts
  readonly flow: Flow
  readonly input: CrewInput
  readonly talk: Conversation
  readonly phases: CrewPhases
  readonly planner: Someone | undefined
  readonly challenger: Someone | undefined
  readonly reviewers: readonly Someone[]
  readonly developers: readonly Someone[]
  /** Members that stand in a row. */
  readonly row: readonly Someone[]
  /** Members that are equals, and members that vote. */
  readonly peers: readonly Someone[]
  readonly voters: readonly Someone[]
  readonly state: CrewState = {
    rounds: [],
    tasks: new Map(),
    skipped: [],
    ballots: [],
    checks: [],
    toFix: [],
  }
  /** Tasks that were begun, for what is left of them when all are stopped. */
  readonly opened = new Map<string, OpenedWork>()
  /** What runs beside others, made once. */
  readonly task: Procedure<Attempt, Attempted>
  readonly review: Procedure<ReviewRound, Reviewed>

  private constructor(given: {
    readonly parts: RunParts
    readonly flow: Flow
    readonly input: CrewInput
    readonly talk: Conversation
  }) {
    const { parts, flow, input, talk } = given
    this.parts = parts
    this.flow = flow
    this.input = input
    this.talk = talk
    this.phases = new CrewPhases({ flow, clock: parts.clock, under: parts.approved }, (error, write) =>
      this.#failing(error, write),
    )
    this.planner = withDuty(input, 'plan')[0]
    this.challenger = withDuty(input, 'challenge')[0]
    this.reviewers = withDuty(input, 'review')
    this.developers = withDuty(input, 'work')
    this.row = withDuty(input, 'stage')
    this.peers = withDuty(input, 'peer')
    this.voters = withDuty(input, 'vote')
    this.task = taskProcedure(this)
    this.review = reviewProcedure(this)
  }

  static async open(parts: RunParts, flow: Flow, input: CrewInput): Promise<CrewRun> {
    return new CrewRun({ parts, flow, input, talk: await talkOf(parts, flow, input) })
  }

  /** Nobody works on for a crew that has failed, and whoever had not reported by then is called off. */
  async #failing(error: unknown, write: Parameters<Failing>[1]): Promise<void> {
    this.parts.stopAll(error)
    await this.flow.quiet()
    if (this.flow.signal.aborted) return
    const reason = error instanceof Error ? error.message : String(error)
    await this.talk.callOffNow(this.flow.root(), { reason }, write)
  }

  /** What its members are given work with. */
  delegationParts(): DelegationParts {
    const { clock, workers, branches, checks, onBug } = this.parts
    return { clock, workers, branches, checks, onBug, talk: this.talk, roundsAt: () => this.flow.root() }
  }

  get orchestrator(): Agent {
    return orchestratorOf(this.input)
  }

  get developerMs(): number {
    return developerMs(this.input)
  }

  get reviewerMs(): number {
    return reviewerMs(this.input)
  }

  /** How many developers may work at a time. */
  get atOnce(): number {
    return Math.min(
      this.input.crew.limits.maxParallel,
      this.developers.reduce((sum, { member }) => sum + Math.max(1, member.count), 0),
    )
  }

  /** The branch in which everything comes together, and its work tree. */
  get branch(): string {
    return `muster/${this.flow.id}`
  }

  get path(): string {
    return treeOf(this.parts.worktrees, this.flow.id, 'all')
  }
}

/** What was said in a crew so far. */
export const talkOf = (
  parts: Pick<CrewParts, 'engine' | 'events'>,
  flow: Pick<Flow, 'id' | 'root'>,
  input: CrewInput,
): Promise<Conversation> =>
  Conversation.open(
    parts,
    flow,
    // Among equals nobody coordinates.
    input.crew.pattern === 'peer_to_peer'
      ? { others: [] }
      : { coordinators: [orchestratorOf(input)], others: [] },
  )

function orchestratorOf(input: CrewInput): Agent {
  const [planner] = withDuty(input, 'plan')
  return { agentId: planner?.id ?? nobody, agentType: planner?.member.role ?? 'architect' }
}

const withDuty = ({ crew }: CrewInput, duty: string): Someone[] =>
  crew.members.filter((member) => member.duty === duty).map((member) => ({ id: member.id, member }))
