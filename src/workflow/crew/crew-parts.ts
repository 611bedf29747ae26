import type { PlanTask } from '../../contract/collaboration/replies.ts'
import type { Crew, CrewMember } from '../../contract/crew.ts'
import type { EarlierCrews } from '../../core/collaboration/crew-effort.ts'
import type { Budgets } from '../../engine/budgets.ts'
import type { Worker } from '../../engine/delegation/ask-agent.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Branches } from '../../ports/branches.ts'
import type { Checks } from '../../ports/checks.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ReadFacts } from '../../ports/facts.ts'
import type { Workers } from '../../ports/workers.ts'

/** What a crew works with. */
export type CrewParts = {
  readonly engine: Engine
  readonly clock: Clock
  readonly workers: Workers
  readonly budgets: Pick<Budgets, 'over' | 'watch' | 'used'>
  readonly branches: Branches
  readonly checks: Checks
  readonly events: ReadFacts
  /** What earlier crews used. */
  readonly earlier: () => Promise<EarlierCrews>
  /** The folder in which the work trees of crews are made. */
  readonly worktrees: string
  /** The names of what is in that folder. */
  readonly treeNames: () => Promise<readonly string[]>
  readonly onBug: (error: unknown, where: string) => void
}

/** What a crew is given. */
export type CrewInput = {
  readonly request: string
  readonly crew: Crew
  /** How code is written in the project, in the words of the crew's file or of the file that it names. */
  readonly styleGuide?: string
  readonly repo: {
    readonly root: string
    /** The commit that the work begins at, and the branch that it is meant for. */
    readonly base: string
    readonly into: string | null
    /** The commit under review and the one that it is compared with, of a crew that only reviews. */
    readonly reviewed?: string
    readonly since?: string
    /** Where the project is below the root. */
    readonly inside: string
  }
}

/** Somebody who does something in a collaboration: a member under the name that messages and files know it by. */
export type Someone = { readonly id: string; readonly member: CrewMember }

/** The same as somebody who is given work. */
export const workerOf = ({ id, member }: Someone): Worker => {
  const { role, agent, cli = 'own', model, guidelines } = member
  return { agentId: id, role, agent, cli, model, guidelines }
}

const minuteMs = 60_000

export const developerMs = ({ crew }: CrewInput): number => crew.limits.developerMinutes * minuteMs
export const reviewerMs = ({ crew }: CrewInput): number => crew.limits.reviewerMinutes * minuteMs

export const folderOf = ({ repo }: CrewInput, path: string): string =>
  repo.inside === '' ? path : `${path}/${repo.inside}`

/** The branch of one task; beside the one of the crew and not below it, where git could not keep it. */
export const branchOf = (id: string, { task_id }: Pick<PlanTask, 'task_id'>): string =>
  `muster/${id}.${task_id}`

/** The folder of a work tree; all of them lie side by side, so that none leaves an empty one behind. */
export const treeOf = (worktrees: string, id: string, name: string): string => `${worktrees}/${id}.${name}`

/** The place where a check is run as it was before a task; no task can have a dot in its name. */
export const beforeEnding = '.before'

/** The crews that folders of this kind belong to, by their names; others may lie beside them. */
export const crewsOf = (names: readonly string[]): string[] => [
  ...new Set(names.flatMap((name) => (name.includes('.') ? [name.slice(0, name.indexOf('.'))] : []))),
]
