import type { ChangedFile, Worktree } from './workspace.ts'

/**
 * Branches and work trees of a collaboration. Everything here may be done again after it was cut off at any point:
 * it then goes on from what it finds and gives the same answer.
 */
export type Branches = {
  /** Where a folder stands; refused outside of a repository and before its first commit. */
  head(folder: string, signal: AbortSignal): Promise<Head>
  /** The work of a folder as it is, as a commit that no branch has, and the commit at which it left its trunk. */
  underReview(
    folder: string,
    signal: AbortSignal,
  ): Promise<{ readonly since: string; readonly commit: string }>
  /** Makes a work tree on a branch of its own, or takes up the one that is there; refused when the branch is another's. */
  openWorktree(root: string, worktree: Worktree, signal: AbortSignal): Promise<void>
  /**
   * Commits all that is not ignored, and answers the commit; undefined when nothing was left to commit.
   * The same words again, with nothing new, answer the commit that they made.
   */
  commitAll(path: string, message: string, signal: AbortSignal): Promise<string | undefined>
  /** What differs from a commit to another, or to the work tree as it is; a renamed file is a deleted and a created one. */
  changes(
    path: string,
    range: { readonly from: string; readonly to?: string },
    signal: AbortSignal,
  ): Promise<{ readonly files: readonly ChangedFile[]; readonly diff: string }>
  /** Puts files back as they are in a commit, and removes those that it does not have; commits nothing. */
  restore(
    path: string,
    from: { readonly commit: string; readonly files: readonly string[] },
    signal: AbortSignal,
  ): Promise<void>
  /** Merges a branch or commit into the branch of the work tree, which has to be committed; conflicts stay in the work tree. */
  merge(path: string, merge: Merge, signal: AbortSignal): Promise<Merged>
  /** Commits a merge of which nothing is left to resolve; else answers what is left. */
  concludeMerge(path: string, merge: Merge, signal: AbortSignal): Promise<Merged>
  /** Puts the work tree back to its branch, with all that was done about the merge lost; without a merge it does nothing. */
  abandonMerge(path: string, signal: AbortSignal): Promise<void>
  /** Brings a finished branch into a branch of the user's, when nothing is lost and nothing conflicts; answers the commit. */
  land(
    root: string,
    branches: { readonly branch: string; readonly into: string },
    signal: AbortSignal,
  ): Promise<string>
  /** The work trees of a repository that lie in a folder. */
  worktreesIn(
    root: string,
    folder: string,
    signal: AbortSignal,
  ): Promise<readonly { readonly path: string; readonly branch: string | undefined }[]>
  /** Removes the folder of a work tree and keeps its branch; refused while something in it is in no commit of a branch. */
  closeWorktree(root: string, path: string, signal: AbortSignal): Promise<void>
  /** Deletes a branch whose commits another branch has; false when none has or it is checked out, and it stays. */
  dropBranch(root: string, branch: string, signal: AbortSignal): Promise<boolean>
}

/** Where a folder of a repository stands. */
export type Head = {
  readonly root: string
  readonly commit: string
  /** Null when HEAD is on no branch. */
  readonly branch: string | null
  readonly isClean: boolean
  /** Where the folder is below the root; empty for the root itself. */
  readonly inside: string
}

/** What to merge, and the words of the commit. */
export type Merge = { readonly branch: string; readonly message: string }

/** The commit that the branch stands at with the merge in it, or the files that wait for somebody to resolve them. */
export type Merged = { readonly merged: string } | { readonly conflicts: readonly string[] }
