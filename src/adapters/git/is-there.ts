import { promises as fs } from 'node:fs'

/** Whether a path leads to anything, a link that leads nowhere included. */
export const isThere = (path: string): Promise<boolean> =>
  fs.lstat(path).then(
    () => true,
    () => false,
  )
