/** A file of a session's own folder. */
export type SessionFile = { readonly path: string; readonly text: string; readonly mode: number }

/** The private folder of each session: launch script, settings, hooks. */
export type SessionFolders = {
  /** The folder, made if it is missing. */
  open(shortId: string): Promise<string>
  write(files: readonly SessionFile[]): Promise<void>
  remove(shortId: string): Promise<void>
  /** Folders that are there, by short id. */
  list(): Promise<readonly string[]>
}
