import type { CrewRound } from '../../contract/collaboration/crew-report.ts'
import type { Plan, PlanTask } from '../../contract/collaboration/replies.ts'
import {
  type AfterReview,
  afterAnswer,
  afterReview,
  answerDecision,
  type EscalationAnswer,
  escalationAnswers,
  escalationWords,
  newestWork,
  type Revision,
  revise,
} from '../../core/collaboration/after-review.ts'
import { settledFindings } from '../../core/collaboration/crew-report.ts'
import {
  newestAfterSplits,
  rootTask,
  type TaskSplit,
  tasksAfterSplits,
} from '../../core/collaboration/planned-work.ts'
import { type Work } from '../../core/delegation/developer-work.ts'
import type { UnfinishedTask } from '../../core/delegation/judge-review.ts'
import { requiredChecks } from '../../core/delegation/required-checks.ts'
import { type Decision, whatIsMissing } from '../../core/delegation/task-failure.ts'
import { closeRound } from '../../engine/delegation/record-work.ts'
import { draftOf } from '../../engine/sessions/drafts.ts'
import { askPerson } from '../ask-person.ts'
import { reviewWork } from './crew-review.ts'
import type { CrewRun, Ending } from './crew-run.ts'
import { type Delegated, delegateTasks, doneTasks } from './delegate-tasks.ts'
import { integrate } from './integrate.ts'
import { makePlan } from './make-plan.ts'

/** Plan, delegate, collect, integrate, review, and again until it is good, or there may be no more. */
export async function plannedFlow(crew: CrewRun): Promise<Ending> {
  const { limits, onMaxIterations } = crew.input.crew
  const { state } = crew
  let plans = 1
  let plan = await makePlan(crew, plans)
  let work: readonly Work[] = plan.tasks.map((task) => ({ task, attempts: [] }))
  let newest = work
  let base = crew.input.repo.base
  let iterations = 0
  let maxIterations = limits.maxIterations
  let order: readonly string[] = []
  for (let number = 1; ; number++) {
    order = [...new Set([...order, ...work.map(({ task }) => rootTask(task.task_id))])]
    const done = await workRound(crew, { number, plan, work, base, order })
    if (!done.round) return { outcome: 'aborted', summary: done.why }
    const { round, splits } = done
    order = done.order
    plan = { ...plan, tasks: tasksAfterSplits(plan.tasks, splits) }
    newest = newestAfterSplits(newest, splits)
    base = done.commit
    const { verdict, summary } = round
    const after = afterReview({ verdict, iterations, maxIterations, onLimit: onMaxIterations })
    iterations = after.iterations
    const next = await escalated(crew, { number, after, verdict })
    if (next.isOneMore) maxIterations += 1
    if (next.to === 'complete') return { outcome: 'approved', summary }
    if (next.to === 'force_approve') return { outcome: 'force_approved', summary }
    if (next.to === 'abort') return { outcome: 'unapproved', summary }
    const findings = state.toFix
    const revisions = await iterate(crew, { number, to: next.to, plan, work: newest })
    if (revisions) {
      work = revisions
      newest = newestWork(newest, revisions)
    } else {
      plans += 1
      plan = await makePlan(crew, plans, { round, findings, taken: [...state.tasks.keys()] })
      work = plan.tasks.map((task) => ({ task, attempts: [] }))
      newest = work
    }
  }
}

type Round = {
  readonly number: number
  readonly plan: Plan
  readonly work: readonly Work[]
  /** The commit that the tasks begin at. */
  readonly base: string
  /** Every task of the collaboration, by the name that it has in its plan. */
  readonly order: readonly string[]
}

type RoundDone =
  | { round: CrewRound; commit: string; splits: readonly TaskSplit[]; order: readonly string[] }
  | { round: undefined; why: string }

async function workRound(crew: CrewRun, given: Round): Promise<RoundDone> {
  const { flow, phases, input, talk } = crew
  const { number, plan, work } = given
  const checks = requiredChecks(input.crew.checks, plan.checks)
  const delegated = await phases.run(
    'delegate',
    { key: `delegate-${number}`, inputCount: work.length },
    async ({ spanId: nodeId }) => {
      const value = await delegateTasks(crew, { ...given, round: number, checks, nodeId })
      return { value, count: value.results.size }
    },
  )
  const why = await collect(crew, number, { work, delegated })
  if (why !== undefined) {
    await closeRound(talk, flow, { name: `round-${number}-over`, root: flow.root(), reason: why })
    return { round: undefined, why }
  }
  const { splits, order } = delegated
  const tasks = delegated.work.map(({ task }) => task)
  const commit = await putTogether(crew, number, tasks)
  const round = await reviewWork(crew, {
    number,
    commit,
    tasks: tasksAfterSplits(plan.tasks, splits),
    checks,
    base: input.repo.base,
    unfinished: unfinishedOf(delegated),
  })
  return { round, commit, splits, order }
}

/** Takes note of what came of each task; answers why there is nothing to go on with. */
function collect(
  { phases, state }: CrewRun,
  number: number,
  { work, delegated }: { work: readonly Work[]; delegated: Delegated },
): Promise<string | undefined> {
  return phases.run('collect', { key: `collect-${number}`, inputCount: work.length }, async () => {
    for (const one of doneTasks(work, delegated)) state.tasks.set(one.task_id, one)
    const undone = delegated.work.filter(
      ({ task }) => !['completed', 'partial'].includes(delegated.states[task.task_id] ?? ''),
    )
    const first = undone[0]?.task.task_id
    const value =
      first === undefined
        ? undefined
        : `${undone.map(({ task }) => task.task_id).join(', ')} could not be done: ${state.tasks.get(first)?.because ?? 'it never began'}`
    return { value, count: delegated.results.size }
  })
}

function putTogether(crew: CrewRun, number: number, tasks: readonly PlanTask[]): Promise<string> {
  const given = { key: `integrate-${number}`, inputCount: tasks.length }
  return crew.phases.run('integrate', given, async ({ spanId: nodeId }) => ({
    value: await integrate(crew, { round: number, tasks, nodeId }),
    count: tasks.length,
  }))
}

const unfinishedOf = ({ work, states, results }: Delegated): UnfinishedTask[] =>
  work
    .map(({ task }) => task.task_id)
    .filter((id) => states[id] === 'partial')
    .flatMap((task_id) => {
      const result = results.get(task_id)
      return result ? [{ task_id, why: whatIsMissing({ ...result.output, failure: result.failure }) }] : []
    })

type Iterating = {
  readonly number: number
  readonly to: 'revise' | 'replan'
  readonly plan: Plan
  readonly work: readonly Work[]
}

/** What a review left to be fixed as revisions of tasks; nothing when it goes back to be planned anew. */
function iterate(
  { phases, state }: CrewRun,
  { number, to, plan, work }: Iterating,
): Promise<readonly Revision[] | undefined> {
  const findings = state.toFix
  return phases.run('iterate', { key: `iterate-${number}`, inputCount: findings.length }, async () => {
    if (to === 'replan') return { value: undefined, count: 0, edge: 'analyze' }
    const value = revise({ round: number, plan: plan.tasks, work, findings })
    return { value, count: value.length, edge: 'delegate' }
  })
}

type Next = {
  readonly to: 'complete' | 'revise' | 'replan' | 'force_approve' | 'abort'
  readonly isOneMore: boolean
}

type Reviewed = {
  readonly number: number
  readonly after: AfterReview
  readonly verdict: CrewRound['verdict']
}

/** Where the work goes; at the limit of the rounds what the crew says, and what a person says where it says that. */
async function escalated(crew: CrewRun, { number, after, verdict }: Reviewed): Promise<Next> {
  if (!('decision' in after)) return { to: after.next, isOneMore: false }
  const by = crew.orchestrator.agentId
  await recordDecision(crew, { name: `escalated-${number}`, by, decision: after.decision })
  if (after.next !== 'human_review') return { to: after.next, isOneMore: false }
  const answer = await askAboutRound(crew, number)
  const decision = answerDecision(answer)
  await recordDecision(crew, { name: `answered-${number}`, by: 'operator', decision })
  return { to: afterAnswer(answer, verdict), isOneMore: answer === 'iterate' }
}

/** Asks a person what becomes of work that the rounds were not enough for. */
async function askAboutRound({ flow, state, branch }: CrewRun, number: number): Promise<EscalationAnswer> {
  const { rounds } = state
  const each = Math.max(1, Math.round(flow.spent().tokens / Math.max(1, rounds.length) / 1000))
  const means: Readonly<Record<EscalationAnswer, string>> = {
    iterate: `the findings go back to the developers; about ${each}k tokens`,
    force_approve: `the work is approved with what is open, and you are asked to land it`,
    abort: `nothing is landed; the work stays on ${branch}`,
  }
  const action = `No rounds are left and the work is not approved: ${rounds.at(-1)?.summary ?? ''}`
  const options = escalationAnswers.map((answer) => ({
    label: escalationWords[answer],
    description: means[answer],
  }))
  const open = settledFindings(rounds).open.map(({ severity, description }) => `${severity}: ${description}`)
  const decision = await askPerson(flow, `human-review-${number}`, {
    subject: 'plan',
    action,
    reason: open.join('\n'),
    scope: [{ question: action, options, isMany: false }],
    risk: 'medium',
    options: options.map(({ label }) => label),
  })
  if (decision.verdict === 'deny') return 'abort'
  const [said] = Object.values(decision.answers ?? {})
  // What no answer names costs nothing.
  return escalationAnswers.find((answer) => said === escalationWords[answer]) ?? 'abort'
}

type Recorded = { readonly name: string; readonly by: string; readonly decision: Decision }

/** What is done at the limit is a decision like any other. */
export async function recordDecision({ flow }: CrewRun, { name, by, decision }: Recorded): Promise<void> {
  const { subject, choice, reason, candidates } = decision
  await flow.step(name, async ({ tell }) => {
    tell(
      draftOf({ ...flow.root(), actor: by }, 'decision.made', {
        subject,
        choice,
        reason,
        candidates: [...candidates],
      }),
    )
  })
}

/** Work that is there already goes to the reviewer; nothing is changed. */
export async function reviewFlow(crew: CrewRun): Promise<Ending> {
  const { base, since = base, reviewed = base } = crew.input.repo
  const checks = requiredChecks(crew.input.crew.checks, undefined)
  const round = await reviewWork(crew, { number: 1, base: since, commit: reviewed, checks, tasks: [] })
  return { outcome: round.verdict === 'approved' ? 'approved' : 'unapproved', summary: round.summary }
}

/** The members in a row, all in one work tree: what each one gives is what the next one is given. */
export async function pipelineFlow(crew: CrewRun): Promise<Ending> {
  const { flow, input, phases, state } = crew
  let given = ''
  const done: PlanTask[] = []
  const unfinished: UnfinishedTask[] = []
  for (const [i, who] of crew.row.entries()) {
    const task = rowTask(input.request, { id: who.id, role: who.member.role, given })
    const phase = { key: `stage-${i + 1}`, inputCount: 1 }
    const result = await phases.run('delegate', phase, async ({ spanId: nodeId }) => {
      const child = flow.child(`r1/${task.task_id}#1`, crew.task, {
        work: { task, attempts: [] },
        number: 1,
        who,
        timeoutMs: crew.developerMs,
        worktree: { path: crew.path, branch: crew.branch, base: input.repo.base },
        needs: [],
        checks: [],
        nodeId,
      })
      return { value: await child.result(), count: 1 }
    })
    const { output, files, failure, durationMs } = result
    state.tasks.set(task.task_id, {
      task_id: task.task_id,
      title: task.title,
      state: result.state,
      files: [...files],
      summary: output.summary,
      duration_ms: durationMs,
      ...(output.blockers && { blockers: output.blockers }),
      ...(failure && { because: failure.error }),
    })
    if (failure) return { outcome: 'aborted', summary: `${who.id} could not do its part: ${failure.error}` }
    given = [output.summary, output.implementation_notes ?? ''].filter((text) => text !== '').join('\n\n')
    done.push(task)
    if (result.state === 'partial')
      unfinished.push({ task_id: task.task_id, why: whatIsMissing({ ...output, failure }) })
  }
  return checkedRow(crew, { tasks: done, unfinished, summary: given })
}

type RowWork = {
  readonly tasks: readonly PlanTask[]
  readonly unfinished: readonly UnfinishedTask[]
  readonly summary: string
}

/** What the row made is good when each did the whole of its part and the checks of the crew say so. */
async function checkedRow(crew: CrewRun, { tasks, unfinished, summary }: RowWork): Promise<Ending> {
  const { flow, parts, path, input } = crew
  const checks = requiredChecks(input.crew.checks, undefined)
  if (checks.length === 0 && unfinished.length === 0) return { outcome: 'approved', summary }
  const commit = await flow.step(
    'made',
    async ({ signal }) => (await parts.branches.head(path, signal)).commit,
  )
  const { base } = input.repo
  const round = await reviewWork(crew, { number: 1, tasks, checks, base, commit, unfinished })
  return {
    outcome: round.verdict === 'approved' ? 'approved' : 'unapproved',
    summary: [round.summary, ...round.reasons].join('\n'),
  }
}

type RowPlace = { readonly id: string; readonly role: string; readonly given: string }

function rowTask(request: string, { id, role, given }: RowPlace): PlanTask {
  const before = given === '' ? '' : `\n\nThe output of the member before you:\n\n${given}`
  return {
    task_id: id.replaceAll('_', '-').slice(0, 40),
    title: `${role}: ${request.split('\n', 1)[0] ?? ''}`.slice(0, 200),
    description: `The request:\n\n${request}\n\nYou are the ${role} in a pipeline of agents in one work tree. Do only your part of it.${before}`,
    scope: ['**'],
    depends_on: [],
    acceptance_criteria: [],
    priority: 'medium',
    testing_required: false,
  }
}
