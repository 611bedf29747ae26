import type {
  CheckRun,
  CrewOutcome,
  CrewReport,
  CrewRound,
  Skipped,
} from '../../contract/collaboration/crew-report.ts'
import type { Plan } from '../../contract/collaboration/plan.ts'
import type { ReviewFinding } from '../../contract/formats/std-008/reviewer.ts'
import { afterAnswer, afterReview } from '../../core/collaboration/after-review.ts'
import { crewReport, type DoneTask, settledFindings } from '../../core/collaboration/report/crew-report.ts'
import { requiredChecks } from '../../core/collaboration/required-checks.ts'
import { newestWork, revise, rootTask } from '../../core/collaboration/revise.ts'
import type { Work } from '../../core/collaboration/work.ts'
import { derivedSpan } from '../../core/session-log/derived-ids.ts'
import { draftOf } from '../../engine/sessions/drafts.ts'
import type { Flow, Procedure } from '../../ports/durable.ts'
import type { Followed } from '../workflows.ts'
import { Conversation } from './conversation.ts'
import type { CrewInput, CrewParts, Someone } from './crew-parts.ts'
import { type Delegated, delegate } from './delegate.ts'
import { doneTasks } from './done-tasks.ts'
import { askAboutRound, recordEscalation } from './escalate.ts'
import { integrate } from './integrate.ts'
import { landName } from './land.ts'
import { fileChange, folderOf, treeOf } from './places.ts'
import { planWork } from './plan-work.ts'
import { refused } from './refused.ts'
import { reviewRound } from './review-round.ts'
import { Stages } from './stages.ts'

/** What a crew gives in the end: its report, and the branch for a person to land. */
export type CrewResult = Partial<Followed> & { readonly report: CrewReport }

/** The standard collaboration: plan, work side by side, put together, review, and again until it is good. */
export const crewProcedure = (parts: CrewParts): Procedure<CrewInput, CrewResult> => ({
  name: 'crew',
  version: '1',
  run: (flow, input) => new CrewRun(parts, flow, input).run(),
})

/** Who orchestrates a crew that has no architect. */
const nobody = 'crew'

type Roles = {
  readonly planner: Someone | undefined
  readonly challenger: Someone | undefined
  readonly developers: readonly Someone[]
  readonly reviewer: Someone | undefined
}

class CrewRun {
  readonly #parts: CrewParts
  readonly #flow: Flow
  readonly #input: CrewInput
  readonly #stages: Stages
  readonly #roles: Roles
  readonly #rounds: CrewRound[] = []
  readonly #tasks = new Map<string, DoneTask>()
  readonly #skipped: Skipped[] = []
  #checks: readonly CheckRun[] = []
  #order: string[] = []
  /** What the last review left to be mended. */
  #mend: readonly ReviewFinding[] = []

  constructor(parts: CrewParts, flow: Flow, input: CrewInput) {
    this.#parts = parts
    this.#flow = flow
    this.#input = input
    this.#stages = new Stages(flow, parts.clock)
    const by = (duty: string) =>
      input.crew.members.filter((member) => member.duty === duty).map((member) => ({ id: member.id, member }))
    const [planner] = by('plan')
    const [challenger] = by('challenge')
    const [reviewer] = by('review')
    this.#roles = { planner, challenger, developers: by('work'), reviewer }
  }

  get #orchestrator(): string {
    return this.#roles.planner?.id ?? nobody
  }

  get #branch(): string {
    return `muster/${this.#flow.id}`
  }

  get #path(): string {
    return treeOf(this.#parts.worktrees, this.#flow.id, 'all')
  }

  async run(): Promise<CrewResult> {
    const { repo } = this.#input
    const beganMs = await this.#stages.run('receive', { inputCount: 1 }, async () => {
      const atMs = await this.#flow.step('open', async ({ signal }) => {
        const worktree = { path: this.#path, branch: this.#branch, base: repo.base }
        await this.#parts.branches.openWorktree(repo.root, worktree, signal)
        return this.#parts.clock.now()
      })
      return { value: atMs, count: 1 }
    })
    const talk = await Conversation.open(this.#parts, this.#flow, {
      orchestrator: {
        agentId: this.#orchestrator,
        agentType: this.#roles.planner?.member.role ?? 'architect',
      },
      others: [],
    })
    const outcome = await this.#iterate(talk)
    return this.#complete(outcome, beganMs)
  }

  /** Rounds of work and review until it is good, or there may be no more. */
  async #iterate(talk: Conversation): Promise<{ outcome: CrewOutcome; summary: string }> {
    const { limits, onMaxIterations } = this.#input.crew
    let plans = 1
    let plan = await this.#plan(plans)
    let work: readonly Work[] = plan.tasks.map((task) => ({ task, attempts: [] }))
    let newest = work
    let base = this.#input.repo.base
    let iterations = 0
    let maxIterations = limits.maxIterations
    for (let number = 1; ; number++) {
      const done = await this.#round(talk, { number, plan, work, base })
      if (!done.round) return { outcome: 'aborted', summary: done.why }
      const { round } = done
      base = done.commit
      const after = afterReview({
        verdict: round.verdict,
        iterations,
        maxIterations,
        onLimit: onMaxIterations,
      })
      iterations = after.iterations
      let next: 'complete' | 'revise' | 'replan' | 'force_approve' | 'abort'
      if (after.next === 'human_review') {
        const answer = await askAboutRound(this.#flow, { number, rounds: this.#rounds })
        next = afterAnswer(answer, round.verdict)
        if (answer === 'iterate') maxIterations += 1
      } else next = after.next
      if ('decision' in after)
        await recordEscalation(this.#flow, { number, by: this.#orchestrator, decision: after.decision })
      if (next === 'complete') return { outcome: 'approved', summary: round.summary }
      if (next === 'force_approve') return { outcome: 'force_approved', summary: round.summary }
      if (next === 'abort') return { outcome: 'unapproved', summary: round.summary }
      const findings = this.#mend
      if (next === 'replan') {
        plans += 1
        plan = await this.#plan(plans, { round, findings, taken: [...this.#tasks.keys()] })
        work = plan.tasks.map((task) => ({ task, attempts: [] }))
        newest = work
      } else {
        const revisions = revise({ round: number, plan: plan.tasks, work: newest, findings })
        work = revisions.work
        newest = newestWork(newest, revisions.work)
      }
    }
  }

  #plan(n: number, rejection?: Parameters<typeof planWork>[2]): Promise<Plan> {
    const { planner, challenger } = this.#roles
    return planWork(
      {
        parts: this.#parts,
        flow: this.#flow,
        stages: this.#stages,
        input: this.#input,
        folder: folderOf(this.#input, this.#path),
        planner,
        challenger,
        checks: requiredChecks(this.#input.crew.checks, undefined).map(({ command }) => command),
      },
      n,
      rejection,
    )
  }

  async #round(
    talk: Conversation,
    given: {
      readonly number: number
      readonly plan: Plan
      readonly work: readonly Work[]
      readonly base: string
    },
  ): Promise<{ round: CrewRound; commit: string } | { round: undefined; why: string }> {
    const { number, plan, work, base } = given
    const flow = this.#flow
    const { maxIterations: maxRounds } = this.#input.crew.limits
    const span = { spanId: derivedSpan(`${flow.id} round ${number}`), parentSpanId: flow.root().spanId }
    await flow.step(`round-${number}`, async ({ tell }) => {
      tell(draftOf({ ...flow.root(), ...span }, 'loop.round.started', { round: number, maxRounds }))
    })
    const ended = (round: CrewRound | undefined, reason?: string) =>
      flow.step(`round-${number}-over`, async ({ tell }) => {
        tell(
          draftOf({ ...flow.root(), ...span }, 'loop.round.completed', {
            round: number,
            maxRounds,
            ...(round && { verdict: round.verdict }),
            ...(reason && { reason: reason.slice(0, 1000) }),
          }),
        )
      })
    this.#order = [...new Set([...this.#order, ...work.map(({ task }) => rootTask(task.task_id))])]
    const delegated = await this.#delegate(talk, given)
    const why = await this.#collect(number, { work, delegated })
    if (why !== undefined) {
      await ended(undefined, why)
      return { round: undefined, why }
    }
    const tasks = work.map(({ task }) => task)
    const commit = await this.#integrate(talk, { number, tasks })
    const round = await this.#review(talk, { number, plan, tasks, commit, from: base })
    await ended(round, round.summary)
    return { round, commit }
  }

  #delegate(
    talk: Conversation,
    { number, plan, work, base }: { number: number; plan: Plan; work: readonly Work[]; base: string },
  ): Promise<Delegated> {
    const { developers, planner } = this.#roles
    return this.#stages.run(
      'delegate',
      { key: `delegate-${number}`, inputCount: work.length },
      async (at) => {
        const value = await delegate({
          parts: this.#parts,
          input: this.#input,
          talk,
          orchestrator: this.#orchestrator,
          at,
          flow: this.#flow,
          round: number,
          work,
          base,
          developers,
          order: this.#order,
          planner,
          checks: requiredChecks(this.#input.crew.checks, plan.checks).map(({ command }) => command),
        })
        return { value, count: value.results.size }
      },
    )
  }

  /** Takes note of what came of each task; answers why there is nothing to go on with. */
  #collect(
    number: number,
    { work, delegated }: { work: readonly Work[]; delegated: Delegated },
  ): Promise<string | undefined> {
    return this.#stages.run('collect', { key: `collect-${number}`, inputCount: work.length }, async () => {
      for (const one of doneTasks(work, delegated)) this.#tasks.set(one.task_id, one)
      const undone = work.filter(
        ({ task }) => !['completed', 'partial'].includes(delegated.states[task.task_id] ?? ''),
      )
      const first = undone[0]?.task.task_id
      const value =
        first === undefined
          ? undefined
          : `${undone.map(({ task }) => task.task_id).join(', ')} could not be done: ${this.#tasks.get(first)?.because ?? 'it never began'}`
      return { value, count: delegated.results.size }
    })
  }

  #integrate(
    talk: Conversation,
    { number, tasks }: { number: number; tasks: readonly Work['task'][] },
  ): Promise<string> {
    const [resolver] = this.#roles.developers
    if (!resolver) throw new Error('a crew without developers has nothing to put together')
    return this.#stages.run(
      'integrate',
      { key: `integrate-${number}`, inputCount: tasks.length },
      async (at) => {
        const value = await integrate({
          parts: this.#parts,
          input: this.#input,
          talk,
          orchestrator: this.#orchestrator,
          at,
          flow: this.#flow,
          round: number,
          path: this.#path,
          tasks,
          resolver,
        })
        return { value, count: tasks.length }
      },
    )
  }

  #review(
    talk: Conversation,
    given: { number: number; plan: Plan; tasks: readonly Work['task'][]; commit: string; from: string },
  ): Promise<CrewRound> {
    const { number, plan, commit } = given
    const { base } = this.#input.repo
    return this.#stages.run(
      'review',
      { key: `review-${number}`, inputCount: given.tasks.length },
      async (at) => {
        const { files } = await this.#flow.step(`changes-${number}`, ({ signal }) =>
          this.#parts.branches.changes(this.#path, { from: base, to: commit }, signal),
        )
        const review = reviewRound({
          parts: this.#parts,
          input: this.#input,
          talk,
          orchestrator: this.#orchestrator,
          reviewer: this.#roles.reviewer,
          at,
        })
        const child = this.#flow.child(`r${number}/review`, review, {
          number,
          commit,
          base,
          files,
          tasks: plan.tasks,
          checks: requiredChecks(this.#input.crew.checks, plan.checks),
          rounds: this.#rounds,
          earlier: settledFindings(this.#rounds).open,
        })
        const { round, mend, checks, skipped } = await child.result()
        this.#mend = mend
        this.#rounds.push(round)
        this.#checks = checks
        this.#skipped.push(...skipped)
        return { value: round, count: round.findings.length }
      },
    )
  }

  async #complete(
    { outcome, summary }: { outcome: CrewOutcome; summary: string },
    beganMs: number,
  ): Promise<CrewResult> {
    const { repo, crew, request } = this.#input
    const flow = this.#flow
    const report = await this.#stages.run('complete', { inputCount: this.#tasks.size }, async (at) => {
      const final = await flow.step('report', async ({ signal, tell }) => {
        const { commit } = await this.#parts.branches.head(this.#path, signal)
        const { files } = await this.#parts.branches.changes(
          this.#path,
          { from: repo.base, to: commit },
          signal,
        )
        const nowMs = this.#parts.clock.now()
        const made = crewReport({
          crew: crew.name,
          workflowId: flow.id,
          request,
          outcome,
          summary,
          branch: this.#branch,
          base: repo.base,
          commit,
          files: files.map(fileChange),
          rounds: this.#rounds,
          tasks: [...this.#tasks.values()],
          checks: this.#checks,
          skipped: this.#skipped,
          tokens: flow.spent().tokens,
          durationMs: Math.max(0, nowMs - beganMs),
          phases: this.#stages.took,
        })
        tell(draftOf({ ...at, actor: this.#orchestrator }, 'result.summary', { summary: made.summary }))
        return made
      })
      // After the report is kept: it is made from what the work trees hold.
      await flow.step('tidy', ({ signal }) => this.#tidy(signal))
      return { value: final, count: 1 }
    })
    const isGood = outcome === 'approved' || outcome === 'force_approved'
    if (!isGood || report.files.length === 0 || repo.into === null) return { report }
    const input = { root: repo.root, branch: this.#branch, into: repo.into, workflowId: flow.id, summary }
    return { report, next: { procedure: landName, input } }
  }

  /** The work trees are not needed any more; branches of tasks whose work is in the crew's go with them. */
  async #tidy(signal: AbortSignal): Promise<void> {
    const { branches, worktrees } = this.#parts
    const { root } = this.#input.repo
    for (const id of this.#tasks.keys()) {
      await branches.closeWorktree(root, treeOf(worktrees, this.#flow.id, id), signal).catch(refused)
      await branches.dropBranch(root, `${this.#branch}.${id}`, signal).catch(refused)
    }
    await branches.closeWorktree(root, this.#path, signal).catch(refused)
  }
}
