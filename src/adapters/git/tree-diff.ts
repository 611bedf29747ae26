import { AppError } from '../../contract/errors.ts'
import type { Workspace } from '../../ports/workspace.ts'
import { commitOfTree } from './commit-of-tree.ts'
import { readNumstat } from './numstat.ts'
import { rootOf } from './root-of.ts'
import { git } from './run-git.ts'

/** From a commit to another, or to the work tree as it is. */
export const treeDiff: Workspace['diff'] = async (folder, { from, to }, signal) => {
  const root = await rootOf(folder, signal)
  if (root === undefined) throw new AppError('conflict', `${folder} is not in a git work tree`)
  // The work tree is compared as a snapshot would keep it, so that new files count too.
  const end = to ?? (await commitOfTree(root, undefined, signal))
  const [numbers, names, diff] = await Promise.all([
    git(root, [...plain, '--no-renames', '--numstat', '-z', from, end], { signal }),
    git(root, [...plain, '--no-renames', '--name-status', '-z', from, end], { signal }),
    git(root, [...plain, '-M', from, end], { signal }),
  ])
  return { files: readNumstat(numbers, names), diff }
}

// Settings of the user must not change what readers of the text rely on, nor run a program.
const plain = [
  'diff',
  '--no-ext-diff',
  '--no-textconv',
  '--no-color',
  '--no-relative',
  '--src-prefix=a/',
  '--dst-prefix=b/',
]
