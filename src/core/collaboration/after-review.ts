import type * as z from 'zod'
import type { CheckRun } from '../../contract/collaboration/crew-report.ts'
import {
  type PlanTask,
  type ReviewerReply,
  RoundAction,
  type RoundReply,
} from '../../contract/collaboration/replies.ts'
import { OnMaxIterations } from '../../contract/crew.ts'
import type { ReviewFinding } from '../../contract/session-file/outputs.ts'
import type { Verdict } from '../../contract/values.ts'
import { type Work, withAttempt } from '../delegation/developer-work.ts'
import { matchesGlob } from '../delegation/globs.ts'
import {
  openFindings,
  type UnfinishedTask,
  unansweredCritical,
  unfinishedReason,
} from '../delegation/judge-review.ts'
import { checkReason, failedChecks } from '../delegation/required-checks.ts'
import { findingWords } from '../delegation/reviewer-work.ts'
import { byTheRules, type Consulted, type Decision } from '../delegation/task-failure.ts'
import { rootTask } from './planned-work.ts'
import { finishedBefore } from './task-graph.ts'

/** What happens when the rounds are used up. */
type Escalation = z.infer<typeof OnMaxIterations>

/** What a person may answer to work that the rounds were not enough for. */
export const escalationAnswers = ['iterate', 'force_approve', 'abort'] as const

/** The same in the words that a person is asked with. */
export const escalationWords: Readonly<Record<EscalationAnswer, string>> = {
  iterate: 'one more round',
  force_approve: 'accept as it is',
  abort: 'stop',
}

export type EscalationAnswer = (typeof escalationAnswers)[number]

/** Where the work goes after a review that did not approve, and whether the rules say so. */
export type AfterReview = {
  readonly next: RoundAction | Escalation
  readonly decision: Decision
  readonly isByRules: boolean
}

type Rounds = {
  readonly verdict: Exclude<z.infer<typeof Verdict>, 'approved'>
  /** How many reviews did not approve, this one among them; changes_requested and rejected both count. */
  readonly iterations: number
  readonly maxIterations: number
}

type Loop = Rounds & {
  readonly onLimit: Escalation
  /** What the architect said, or why it gave no answer, when it was asked. */
  readonly asked?: Consulted<RoundReply> | undefined
}

/** How many more rounds there may be; without one, nobody is asked whether the work goes on. */
export const roundsLeft = ({ iterations, maxIterations }: Omit<Rounds, 'verdict'>): number =>
  Math.max(0, maxIterations - iterations)

/** What the rules do with a verdict while there are rounds left. */
export const usualAction = (verdict: Rounds['verdict']): RoundAction =>
  verdict === 'rejected' ? 'replan' : 'revise'

/** Where the work goes after a review that did not approve: as the architect says, within the rounds that there may be. */
export function afterReview({ asked, onLimit, ...loop }: Loop): AfterReview {
  const { verdict, iterations, maxIterations } = loop
  if (roundsLeft(loop) === 0) {
    const reason = `${iterations} of ${maxIterations} rounds are used up, and the last review says ${verdict}`
    const decision = { subject, candidates: OnMaxIterations.options, choice: onLimit, reason }
    return { next: onLimit, decision, isByRules: true }
  }
  const candidates = RoundAction.options
  if (asked && 'reply' in asked) {
    const { action, reason: why } = asked.reply
    const decision = { subject, candidates, choice: action, reason: `the architect decided: ${why}` }
    return { next: action, decision, isByRules: false }
  }
  const next = usualAction(verdict)
  const reason = byTheRules(asked, `round ${iterations} of ${maxIterations} ended with ${verdict}`)
  return { next, decision: { subject, candidates, choice: next, reason }, isByRules: true }
}

const subject = 'approach' as const

/** Where the work goes once a person has answered; one more round is one more round of the same kind. */
export const afterAnswer = (
  answer: EscalationAnswer,
  verdict: Rounds['verdict'],
): RoundAction | 'force_approve' => (answer === 'iterate' ? usualAction(verdict) : answer)

/** What a person chose, as a decision like any other. */
export const answerDecision = (answer: EscalationAnswer): Decision => ({
  subject: 'approach',
  candidates: escalationAnswers,
  choice: answer,
  reason: 'a person was asked at the limit of the rounds and decided so',
})

type ReviewToFix = {
  readonly reply: ReviewerReply
  readonly checks: readonly CheckRun[]
  readonly earlier: readonly ReviewFinding[]
  readonly round: number
  readonly unfinished?: readonly UnfinishedTask[]
}

const mostOutput = 2000

/** Everything that a review leaves to fix, as findings: what was found, asked for, or failed. Never nothing. */
export function findingsToFix({
  reply,
  checks,
  earlier,
  round,
  unfinished = [],
}: ReviewToFix): ReviewFinding[] {
  const found = openFindings(reply.findings)
  const known = new Set(reply.findings.map((finding) => finding.finding_id))
  const asked = (reply.required_changes ?? []).filter(
    ({ related_findings: related }) => !related.some((id) => known.has(id)),
  )
  const all: ReviewFinding[] = [
    ...found,
    ...unansweredCritical(reply, earlier),
    ...asked.map(
      ({ change_id, priority, description }): ReviewFinding => ({
        finding_id: `r${round}-${change_id}`,
        severity: priority === 'must_fix' ? 'major' : priority === 'should_fix' ? 'minor' : 'suggestion',
        category: 'logic',
        file: '',
        description,
      }),
    ),
    ...failedChecks(checks).map((check): ReviewFinding => checkFinding(check, round)),
    ...unfinished.map(
      (task): ReviewFinding => ({
        finding_id: unfinishedId(round, task.task_id),
        severity: 'major',
        category: 'logic',
        file: '',
        description: unfinishedReason(task),
      }),
    ),
  ]
  if (all.length > 0) return all
  return [
    {
      finding_id: `r${round}-summary`,
      severity: 'major',
      category: 'logic',
      file: '',
      description: reply.summary.trim() || 'the review asks for changes and does not say which',
    },
  ]
}

function checkFinding(check: CheckRun, round: number): ReviewFinding {
  const output = check.output?.trim().slice(-mostOutput)
  return {
    finding_id: `r${round}-check-${check.name}`,
    severity: 'critical',
    category: 'test',
    file: '',
    description: `${checkReason(check)}${check.command === undefined ? '' : ` (${check.command})`}`,
    ...(output ? { rationale: `it ended with:\n${output}` } : {}),
  }
}

/** Work that fixes what a review found in earlier work. */
export type Revision = Work & {
  /** The task of the plan that it revises; undefined for what belongs to no single one. */
  readonly revises?: string
  readonly findings: readonly ReviewFinding[]
}

type Reviewed = {
  readonly round: number
  /** The tasks as they were planned: revisions keep their order. */
  readonly plan: readonly PlanTask[]
  /** The newest work of each task of the plan. */
  readonly work: readonly Work[]
  readonly findings: readonly ReviewFinding[]
}

/** One revision for each task that findings belong to, and one for those that belong to none; suggestions alone make none. */
export function revise({ round, plan, work, findings }: Reviewed): Revision[] {
  const groups = new Map<Work | undefined, ReviewFinding[]>()
  for (const finding of findings) {
    const owner = ownerOf(finding, work, round)
    groups.set(owner, [...(groups.get(owner) ?? []), finding])
  }
  const isNeeded = (group: readonly ReviewFinding[]) =>
    group.some(({ severity }) => severity !== 'suggestion')
  const needed = [...groups].filter(([, group]) => isNeeded(group))
  // A review that asks for changes and only suggests some means these.
  const meant = needed.length > 0 ? needed : [...groups]
  const taken = meant.map(([owner]) => owner)
  const own = work.filter((each) => taken.includes(each))
  const made = own.map((each) => revisionOf(each, groups.get(each) ?? [], { round, plan, among: own }))
  const rest = taken.includes(undefined) ? groups.get(undefined) : undefined
  return rest ? [...made, restOf(rest, { round, made, all: work })] : made
}

/** The newest work of each task of a plan after a round of revisions. */
export const newestWork = (work: readonly Work[], revisions: readonly Revision[]): Work[] =>
  work.map((each) => revisions.findLast(({ revises }) => revises === rootTask(each.task.task_id)) ?? each)

const unfinishedId = (round: number, taskId: string): string => `r${round}-unfinished-${taskId}`

/** What a task left undone is its own; where several tasks may change a file, the last one had it last. */
function ownerOf(
  { finding_id, file }: ReviewFinding,
  work: readonly Work[],
  round: number,
): Work | undefined {
  const unfinished = work.find(({ task }) => finding_id === unfinishedId(round, task.task_id))
  if (unfinished) return unfinished
  const path = file.replace(/^\.?\/+/, '')
  const owner = path && work.findLast(({ task }) => task.scope.some((glob) => matchesGlob(path, glob)))
  return owner || (path === '' && work.length === 1 ? work[0] : undefined)
}

type Among = {
  readonly round: number
  readonly plan: readonly PlanTask[]
  readonly among: readonly Work[]
}

function revisionOf(work: Work, findings: readonly ReviewFinding[], { round, plan, among }: Among): Revision {
  const { task } = work
  const root = rootTask(task.task_id)
  const before = finishedBefore(plan, root)
  // Tasks that had an order keep it, also where what stood between them needs no revision.
  const depends_on = among
    .map((other) => rootTask(other.task.task_id))
    .filter((other) => before.has(other))
    .map((other) => ({ task_id: `${other}-rev${round}`, type: 'hard' as const }))
  const feedback = findings.map(findingWords).join('\n')
  return {
    ...withAttempt(work, 'changes_requested', feedback),
    revises: root,
    findings,
    task: {
      ...task,
      task_id: `${root}-rev${round}`,
      description: `${firstWords(task.description)}${revisionHead}${feedback}`,
      depends_on,
    },
  }
}

const revisionHead = '\n\nThis was done and reviewed. Fix what the review found, and nothing else:\n'

/** The task's own words, without those of an earlier revision. */
const firstWords = (description: string): string => description.split(revisionHead, 1)[0] ?? ''

type Rest = { readonly round: number; readonly made: readonly Revision[]; readonly all: readonly Work[] }

/** It may change what any task could, so it waits for the other revisions. */
function restOf(findings: readonly ReviewFinding[], { round, made, all }: Rest): Revision {
  const names = new Set(all.map(({ task }) => rootTask(task.task_id)))
  let name = 'rest'
  while (names.has(name)) name = `${name}-all`
  const files = findings.map(({ file }) => file.replace(/^\.?\/+/, '')).filter((file) => isInside(file))
  const task: PlanTask = {
    task_id: `${name}-rev${round}`,
    title: 'Fix what the review found',
    description: `The work on the request was reviewed. Fix what the review found, and nothing else:\n${findings.map(findingWords).join('\n')}`,
    scope: [...new Set([...all.flatMap((each) => each.task.scope), ...files])],
    depends_on: made.map((each) => ({ task_id: each.task.task_id, type: 'hard' })),
    acceptance_criteria: findings.map(({ finding_id }) => `${finding_id} is mended`),
    priority: 'high',
    testing_required: true,
  }
  return { task, attempts: [], findings }
}

const isInside = (path: string): boolean => path !== '' && !path.split('/').includes('..')
