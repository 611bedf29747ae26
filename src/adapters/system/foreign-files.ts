import { constants, promises as fs } from 'node:fs'
import { basename, sep } from 'node:path'

/** For `catch`: a file or folder that is not there, or went away meanwhile, answers nothing. */
export function missing(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
  throw error
}

/** For `catch`: as `missing`, and a folder where a file was looked for answers nothing too. */
export const noFile = (error: NodeJS.ErrnoException): undefined =>
  error.code === 'EISDIR' ? undefined : missing(error)

/** For `catch`: a folder that is not there or may not be read has no entries. */
export const noEntries = (error: NodeJS.ErrnoException): [] => {
  if (error.code !== 'EACCES' && error.code !== 'EPERM') missing(error)
  return []
}

/** The names in a folder; none when it is not there. */
export const namesIn = async (folder: string): Promise<readonly string[]> =>
  (await fs.readdir(folder).catch(missing)) ?? []

/**
 * Opens a file that a program of an agent may have put there, by its real path. A link would make the daemon read for
 * that program what the program itself cannot, and a pipe would hold a thread until somebody writes to it.
 */
export async function openPlain(path: string): Promise<fs.FileHandle | undefined> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  const handle = await fs.open(path, flags).catch(notPlain)
  if (!handle) return undefined
  const [opened, real] = [await handle.stat(), await fs.realpath(path).catch(notPlain)]
  const named = real === path ? await fs.stat(path).catch(notPlain) : undefined
  // A folder on the way may have become a link between two looks: the file that is open is the one that counts.
  if (opened.isFile() && named?.ino === opened.ino && named.dev === opened.dev) return handle
  await handle.close()
  return undefined
}

const noPlace = ['ENAMETOOLONG', 'ERR_INVALID_ARG_VALUE', 'EACCES', 'EPERM']
const unopened = new Set(['ELOOP', 'EMLINK', 'ENXIO', ...noPlace])

/** A path that a program made up may be none at all. */
const notPlain = (error: NodeJS.ErrnoException): undefined =>
  unopened.has(error.code ?? '') ? undefined : missing(error)

/** The real path of a record, when it is a file of that name below the folder where its CLI keeps them. */
export async function recordIn(folder: string, path: string): Promise<string | undefined> {
  const [root, real] = await Promise.all([folder, path].map((one) => fs.realpath(one).catch(notPlain)))
  if (root === undefined || real === undefined) return undefined
  const isBelow = real.startsWith(root.endsWith(sep) ? root : root + sep)
  return isBelow && basename(real) === basename(path) ? real : undefined
}
