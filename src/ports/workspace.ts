/** A file that differs between two states of a work tree. */
export type ChangedFile = {
  readonly path: string
  readonly change: 'created' | 'modified' | 'deleted'
  /** Null for a file that is not text. */
  readonly added: number | null
  readonly removed: number | null
}

/** What git knows of a folder. */
export type Workspace = {
  /** The root of the work tree the folder is in; undefined outside of any. */
  root(folder: string, signal: AbortSignal): Promise<string | undefined>
  /**
   * Keeps the work tree as it is, untracked files included, as a commit under a ref of ours;
   * neither the work tree nor the index nor a branch changes.
   */
  snapshot(
    folder: string,
    ref: string,
    signal: AbortSignal,
  ): Promise<
    { readonly commit: string; readonly head: string | null; readonly branch: string | null } | undefined
  >
  /** From a commit to another, or to the work tree as it is. */
  diff(
    folder: string,
    range: { readonly from: string; readonly to?: string },
    signal: AbortSignal,
  ): Promise<{ readonly files: readonly ChangedFile[]; readonly diff: string }>
  /** A new work tree on a new branch from the folder's HEAD. */
  addWorktree(
    folder: string,
    wanted: { readonly path: string; readonly branch: string },
    signal: AbortSignal,
  ): Promise<{ readonly path: string; readonly branch: string; readonly base: string }>
}
