/** A folder in which a CLI keeps its settings and conversations. */
export type ConfigHome = {
  readonly path: string
  /** Files that it works on as they are. */
  readonly shared: readonly string[]
  /** Where it keeps its conversations. */
  readonly records: ConfigRecords
  /** Entries that it starts without: what it writes there is its own and goes with the session. */
  readonly fresh: readonly string[]
  /** Files from elsewhere of which it gets copies, under these names. */
  readonly copied: readonly { readonly from: string; readonly name: string }[]
}

/** Conversations of one folder, in files `<id>.jsonl` and folders `<id>` beside them. */
export type ConfigRecords = {
  /** The folder that holds those of all folders, by its name; of it only this one is there. */
  readonly name: string
  /** The folder below it for the place where it works; it is made when it is missing. */
  readonly folder: string
  /** The conversation that it may change; the others that are there are read-only. */
  readonly own: string
}

/** What is to run behind walls. */
export type IsolationRequest = {
  readonly argv: readonly string[]
  readonly workingDir: string
  /** All that it may write, by full paths; the rest is read-only or hidden. */
  readonly writable: readonly string[]
  /** Its own private folder in the state folder. */
  readonly folder: string
  readonly homes: readonly ConfigHome[]
  /** Folders it finds programs in. */
  readonly path: string
}

/** Keeps the program of a session from everything that is not its own. */
export type Isolation = {
  /** What it may write besides its own files; refuses a folder that would open more than a project, and a machine without walls. */
  writable(
    place: {
      readonly workingDir: string
      /** The checkout of a work tree that Muster is going to make there. */
      readonly treeOf?: string
    },
    env: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<readonly string[]>
  /** The same program behind walls; refuses where this machine has none, and never answers it without. */
  wrap(request: IsolationRequest, signal: AbortSignal): Promise<readonly string[]>
  /** Takes away what such a program left so that others would run something of its outside, and answers the paths. */
  undo(writable: readonly string[]): Promise<readonly string[]>
  /** Whether it works here: what it is, or why not and what to do. */
  state(
    signal: AbortSignal,
  ): Promise<{ readonly isThere: boolean; readonly detail: string; readonly cure?: string }>
}
