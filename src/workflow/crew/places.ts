import type { FileChange } from '../../contract/formats/std-008/developer.ts'
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
