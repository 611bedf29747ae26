import type { PlanTask } from '../../contract/collaboration/plan.ts'
import type { ReviewFinding } from '../../contract/session-file/outputs.ts'
import { matchesGlob } from '../delegation/matches-glob.ts'
import { findingWords } from './finding-words.ts'
import { overBefore } from './task-order.ts'
import { tried, type Work } from './work.ts'

/** Work that mends what a review found in earlier work. */
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
    const owner = ownerOf(finding, work)
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

/** The task of the plan that a task revises, or the task itself. */
export const rootTask = (taskId: string): string => taskId.replace(/-rev\d+$/, '')

/** Where several tasks may change a file, the last one had it last. */
function ownerOf({ file }: ReviewFinding, work: readonly Work[]): Work | undefined {
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
  const before = overBefore(plan, root)
  // Tasks that had an order keep it, also where what stood between them needs no revision.
  const depends_on = among
    .map((other) => rootTask(other.task.task_id))
    .filter((other) => before.has(other))
    .map((other) => ({ task_id: `${other}-rev${round}`, type: 'hard' as const }))
  const feedback = findings.map(findingWords).join('\n')
  return {
    ...tried(work, 'changes_requested', feedback),
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

const revisionHead = '\n\nThis was done and reviewed. Mend what the review found, and nothing else:\n'

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
    title: 'Mend what the review found',
    description: `The work on the request was reviewed. Mend what the review found, and nothing else:\n${findings.map(findingWords).join('\n')}`,
    scope: [...new Set([...all.flatMap((each) => each.task.scope), ...files])],
    depends_on: made.map((each) => ({ task_id: each.task.task_id, type: 'hard' })),
    acceptance_criteria: findings.map(({ finding_id }) => `${finding_id} is mended`),
    priority: 'high',
    testing_required: true,
  }
  return { task, attempts: [], findings }
}

const isInside = (path: string): boolean => path !== '' && !path.split('/').includes('..')
