import type { Crew } from '../contract/crew.ts'

/** What a caller's project has on disk, by the words that callers use for it. */
export type ProjectFiles = {
  /** A folder that a caller names, as a full path with links resolved. */
  folder(path: string): Promise<string>
  /** The file of a script: a path from the project, or a name that the project's folders or the package know. */
  script(root: string, word: string): Promise<string>
  /** The text of a crew's style guide; one in a file is read from the project, and refused when it is not there. */
  styleGuide(
    root: string,
    crew: Pick<Crew, 'name' | 'styleGuide' | 'file'>,
    signal: AbortSignal,
  ): Promise<string | undefined>
}
