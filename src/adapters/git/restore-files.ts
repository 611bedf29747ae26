import { lstat, rm, rmdir } from 'node:fs/promises'
import { dirname, isAbsolute, join, normalize } from 'node:path'
import { AppError } from '../../contract/errors.ts'
import { ownGit } from './run-git.ts'
import type { OwnTree } from './worktrees.ts'

/** Puts files back as they are in a commit, and removes those that it does not have. */
export async function restoreFiles(
  { path }: OwnTree,
  { commit, files }: { readonly commit: string; readonly files: readonly string[] },
  signal: AbortSignal,
): Promise<void> {
  for (const file of files) checkInside(file)
  for (let at = 0; at < files.length; at += atOnce) {
    const some = files.slice(at, at + atOnce)
    const list = await ownGit(path, ['ls-tree', '-r', '-z', '--name-only', commit, '--', ...some], signal)
    const known = new Set(list.split('\0'))
    const kept = some.filter((file) => known.has(file))
    const made = some.filter((file) => !known.has(file))
    for (const file of made) await remove(path, file)
    if (made.length > 0)
      await ownGit(path, ['rm', '-r', '-f', '-q', '--cached', '--ignore-unmatch', '--', ...made], signal)
    if (kept.length > 0) await ownGit(path, ['checkout', '-q', commit, '--', ...kept], signal)
  }
}

// More would not fit into one command line.
const atOnce = 200

function checkInside(file: string): void {
  const [first] = file.split('/')
  if (
    file === '' ||
    file.endsWith('/') ||
    isAbsolute(file) ||
    normalize(file) !== file ||
    first === '..' ||
    first === '.git'
  )
    throw new AppError(
      'invalid',
      `${file || 'an empty name'} is not a file in the work tree; give its path from the root`,
    )
}

async function remove(root: string, file: string): Promise<void> {
  // Through a link it would be a file of somebody else's.
  for (let folder = dirname(file); folder !== '.'; folder = dirname(folder))
    if ((await kindOf(join(root, folder))) !== 'folder') return
  await rm(join(root, file), { recursive: true, force: true })
  for (let folder = dirname(file); folder !== '.'; folder = dirname(folder))
    if (!(await removeEmpty(join(root, folder)))) return
}

const kindOf = (path: string): Promise<'folder' | 'other'> =>
  lstat(path).then(
    (found) => (found.isDirectory() ? 'folder' : 'other'),
    () => 'other',
  )

const removeEmpty = (path: string): Promise<boolean> =>
  rmdir(path).then(
    () => true,
    () => false,
  )
