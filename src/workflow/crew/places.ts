import type { PlanTask } from '../../contract/collaboration/replies.ts'
import type { FileChange } from '../../contract/session-file/outputs.ts'
import type { ChangedFile } from '../../ports/workspace.ts'
import type { CrewInput } from './crew-parts.ts'

/** A glob of the project, as it is below the root of the repository. */
export const below = ({ repo }: CrewInput, glob: string): string =>
  repo.inside === '' ? glob : `${repo.inside}/${glob}`

export const folderOf = ({ repo }: CrewInput, path: string): string =>
  repo.inside === '' ? path : `${path}/${repo.inside}`

/** A changed file as session files know it. */
export const fileChange = ({ path, change, added, removed }: ChangedFile): FileChange => ({
  path,
  change_type: change,
  ...(added !== null && { lines_added: added }),
  ...(removed !== null && { lines_removed: removed }),
})

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
