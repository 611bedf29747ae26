import { realpath, stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { AppError } from '../contract/errors.ts'

/** A folder that a caller names, as a full path with links resolved. */
export async function projectFolder(path: string): Promise<string> {
  const found = isAbsolute(path) ? await stat(path).catch(() => undefined) : undefined
  if (!found?.isDirectory())
    throw new AppError('invalid', `project_root ${path} is no folder; name a whole path to one`)
  return realpath(path)
}
