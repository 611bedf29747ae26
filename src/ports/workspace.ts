/** A file that differs between two states of a work tree. */
export type ChangedFile = {
  readonly path: string
  readonly change: 'created' | 'modified' | 'deleted'
  /** Null for a file that is not text. */
  readonly added: number | null
  readonly removed: number | null
}

/** What is known of the folder that an agent works in. */
export type Workspace = {
  /** Where a path leads, relative to the folder and with links resolved; outside of it it begins with `..`. */
  inside(folder: string, path: string): Promise<string>
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
  /** Gives a ref of ours another name, which must be free, or takes it away; a crash on the way loses no commit. */
  moveRef(
    folder: string,
    move: { readonly from: string; readonly to: string | undefined; readonly commit: string },
    signal: AbortSignal,
  ): Promise<void>
  /** From a commit to another, or to the work tree as it is. */
  diff(
    folder: string,
    range: { readonly from: string; readonly to?: string },
    signal: AbortSignal,
  ): Promise<{ readonly files: readonly ChangedFile[]; readonly diff: string }>
  /** Where a new work tree on a new branch would begin; refused when there can be none. */
  planWorktree(folder: string, branch: string, signal: AbortSignal): Promise<WorktreePlan>
  /** Makes it; a failure leaves nothing behind. */
  addWorktree(root: string, worktree: Worktree, signal: AbortSignal): Promise<void>
  /** Removes it with its branch when nothing is lost with them; false when something would be, and it stays. */
  removeWorktree(worktree: Worktree, signal: AbortSignal): Promise<boolean>
  /** What of a folder is in no commit, and which commits are on no remote; undefined outside of a repository. */
  unsaved(folder: string, signal: AbortSignal): Promise<Unsaved | undefined>
}

/** A work tree on a branch of its own, with the commit it began at. */
export type Worktree = { readonly path: string; readonly branch: string; readonly base: string }

/** The repository of a folder, the commit it stands at, and where the folder is below its root. */
export type WorktreePlan = { readonly root: string; readonly base: string; readonly inside: string }

/** Work that only this folder has. */
export type Unsaved = {
  readonly root: string
  readonly changed: readonly string[]
  readonly branch: string | null
  /** Commits of the branch that no remote has; none where there is no remote. */
  readonly unpushed: number
}
