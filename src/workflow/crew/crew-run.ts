import type { CheckRun, CrewOutcome, CrewRound, Skipped } from '../../contract/collaboration/crew-report.ts'
import type { ReviewFinding } from '../../contract/session-file/outputs.ts'
import type { DoneTask } from '../../core/collaboration/crew-report.ts'
import { Conversation } from '../../engine/delegation/conversation.ts'
import type { Flow, FlowRoot } from '../../ports/durable.ts'
import type { Opened } from './carry-out.ts'
import type { CrewInput, CrewParts, Someone } from './crew-parts.ts'
import { treeOf } from './places.ts'
import { type Failing, Stages } from './stages.ts'

/** How the work of a crew ended, in a word and in a sentence. */
export type Ending = { readonly outcome: CrewOutcome; readonly summary: string }

/** What a run works with, and how all who work for it are stopped. */
type RunParts = CrewParts & { readonly stopAll: (why: unknown) => void }

/** Who orchestrates a crew that has no architect. */
const nobody = 'crew'

/** One run of a crew: who takes part, where it works, and what has come of it so far. */
export class CrewRun {
  readonly parts: RunParts
  readonly flow: Flow
  readonly input: CrewInput
  readonly stages: Stages
  readonly planner: Someone | undefined
  readonly challenger: Someone | undefined
  readonly reviewers: readonly Someone[]
  readonly developers: readonly Someone[]
  /** Members that stand in a row. */
  readonly row: readonly Someone[]
  readonly talk: Conversation
  readonly rounds: CrewRound[] = []
  readonly tasks = new Map<string, DoneTask>()
  readonly skipped: Skipped[] = []
  /** Tasks that were begun, with the branch of each. */
  readonly opened = new Map<string, Opened>()
  checks: readonly CheckRun[] = []
  /** What the last review left to be mended. */
  mend: readonly ReviewFinding[] = []

  private constructor(given: {
    readonly parts: RunParts
    readonly flow: Flow
    readonly input: CrewInput
    readonly talk: Conversation
  }) {
    this.parts = given.parts
    this.flow = given.flow
    this.input = given.input
    this.talk = given.talk
    this.stages = new Stages(given.flow, given.parts.clock, (error, write) => this.#failing(error, write))
    this.planner = withDuty(given.input, 'plan')[0]
    this.challenger = withDuty(given.input, 'challenge')[0]
    this.reviewers = withDuty(given.input, 'review')
    this.developers = withDuty(given.input, 'work')
    this.row = withDuty(given.input, 'stage')
  }

  static async open(parts: RunParts, flow: Flow, input: CrewInput): Promise<CrewRun> {
    return new CrewRun({ parts, flow, input, talk: await talkOf(parts, flow, input) })
  }

  /** Nobody works on for a crew that has failed, and whoever had not reported by then is called off. */
  async #failing(error: unknown, write: Parameters<Failing>[1]): Promise<void> {
    this.parts.stopAll(error)
    await this.flow.quiet()
    if (this.flow.signal.aborted) return
    const text = error instanceof Error ? error.message : String(error)
    await this.talk.callOffNow(this.flow.root(), { reason: text }, write)
  }

  /** What those who work for it at a node get of it. */
  around(at: FlowRoot) {
    const { parts, input, talk, orchestrator, opened } = this
    return { parts, input, talk, orchestrator, opened, at }
  }

  get orchestrator(): string {
    return this.planner?.id ?? nobody
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
export function talkOf(
  parts: Pick<CrewParts, 'engine' | 'events'>,
  flow: Pick<Flow, 'id' | 'root'>,
  input: CrewInput,
): Promise<Conversation> {
  const [planner] = withDuty(input, 'plan')
  return Conversation.open(parts, flow, {
    coordinators: [{ agentId: planner?.id ?? nobody, agentType: planner?.member.role ?? 'architect' }],
    others: [],
  })
}

const withDuty = ({ crew }: CrewInput, duty: string): Someone[] =>
  crew.members.filter((member) => member.duty === duty).map((member) => ({ id: member.id, member }))
