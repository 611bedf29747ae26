import { realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../contract/errors.ts'
import { type Machine, waitForGit } from './git-at-work.ts'
import { isThere } from './is-there.ts'
import { maybe } from './root-of.ts'
import { git } from './run-git.ts'

/** A work tree of ours that may be written to. */
export type OwnTree = {
  readonly path: string
  /** Where git keeps what belongs to this work tree alone. */
  readonly gitFolder: string
}

/** Finds a work tree of ours, with the locks removed that a killed git left in it. */
export async function ownTree(path: string, machine: Machine, signal: AbortSignal): Promise<OwnTree> {
  const asked = ['--show-toplevel', '--absolute-git-dir', '--git-common-dir']
  const answer = await maybe(git(path, ['rev-parse', '--path-format=absolute', ...asked], { signal }))
  const [root, gitFolder, store] = answer?.split('\n') ?? []
  // Without its .git file a folder would lead to the repository around it, and with that to the user's own files.
  if (root === undefined || gitFolder === undefined || gitFolder === store || root !== (await realpath(path)))
    throw new AppError('conflict', `${path} is not a work tree of its own; open it again`)
  const branch = await maybe(git(path, ['symbolic-ref', '-q', 'HEAD'], { signal }))
  const locks = [join(gitFolder, 'index.lock'), join(gitFolder, 'HEAD.lock')]
  if (branch !== undefined) locks.push(join(store ?? '', `${branch}.lock`))
  for (const lock of locks) {
    if (!(await isThere(lock))) continue
    await waitForGit(root, machine, signal)
    await rm(lock, { force: true })
  }
  return { path: root, gitFolder }
}
