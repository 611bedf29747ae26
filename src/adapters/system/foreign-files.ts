import { promises as fs } from 'node:fs'

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

/** Whether a file can be reached. */
export const isThere = (path: string): Promise<boolean> =>
  fs.access(path).then(
    () => true,
    () => false,
  )
