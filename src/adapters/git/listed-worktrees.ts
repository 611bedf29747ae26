import { git } from './run-git.ts'

/** A work tree as git has it registered, whether or not its folder is there. */
export type ListedWorktree = {
  readonly path: string
  /** Undefined when it is on no branch. */
  readonly branch: string | undefined
  /** Git was cut off while it made it. */
  readonly isHalfMade: boolean
}

/** All work trees of a repository. */
export async function listedWorktrees(root: string, signal: AbortSignal): Promise<readonly ListedWorktree[]> {
  const list = await git(root, ['worktree', 'list', '--porcelain'], { signal })
  return list
    .split('\n\n')
    .filter((block) => block !== '')
    .map((block) => {
      const lines = block.split('\n')
      const after = (word: string) =>
        lines.find((line) => line.startsWith(`${word} `))?.slice(word.length + 1)
      return {
        path: after('worktree') ?? '',
        branch: after('branch')?.replace(/^refs\/heads\//, ''),
        isHalfMade: after('locked') === 'initializing',
      }
    })
}
