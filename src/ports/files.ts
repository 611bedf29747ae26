import type { Crew } from '../contract/crew.ts'

/** One whole line of a growing file: where it begins and the offset after its newline. */
export type FileLine = { readonly text: string; readonly start: number; readonly end: number }

/** Files that others write line by line. */
export type LineFiles = {
  /** Whole lines from an offset, at most about `maxBytes`; undefined when there is no such file. A shorter file than before begins anew at 0. */
  read(
    path: string,
    from: number,
    maxBytes: number,
  ): Promise<{ readonly lines: readonly FileLine[]; readonly end: number; readonly size: number } | undefined>
  /** Calls back when the file or folder may have changed, until the signal ends it; a missing one is waited for. */
  watch(path: string, onChange: () => void, signal: AbortSignal): void
}

/** A file of a session's own folder. */
type SessionFile = { readonly path: string; readonly text: string; readonly mode: number }

/** The private folder of each session: launch script, settings, hooks. */
export type SessionFolders = {
  /** The folder, made if it is missing. */
  open(shortId: string): Promise<string>
  write(files: readonly SessionFile[]): Promise<void>
  remove(shortId: string): Promise<void>
  /** Folders that are there, by short id. */
  list(): Promise<readonly string[]>
}

/** Copies of transcripts that outlive their sessions, without their secrets. */
export type Archive = {
  /** Keeps the files under a name; answers where, or nothing when there was none to keep. */
  keep(
    name: string,
    paths: readonly string[],
    signal: AbortSignal,
  ): Promise<{ readonly path: string; readonly files: number; readonly bytes: number } | undefined>
}

/** A private folder of documents; each is replaced whole, so that a reader never meets half of one. */
export type DocumentFolder = {
  /** Makes the folder when it is not there. */
  prepare(): Promise<void>
  pathOf(name: string): string
  has(name: string): Promise<boolean>
  read(path: string): Promise<string>
  replace(path: string, text: string): Promise<void>
}

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
