import { constants, existsSync, promises as fs, fstatSync, readlinkSync, type Stats } from 'node:fs'
import { AppError } from '../../contract/errors.ts'
import type { Place } from '../system/place.ts'
import { movedAway } from './held-folder.ts'

/** A file that is open for reading. */
export type OpenFile = AsyncDisposable & { readonly handle: fs.FileHandle; readonly stat: Stats }

// Without waiting: a pipe has nobody at its other end.
const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
const hasDescriptors = existsSync('/proc/self/fd')

/** Opens a regular file of the workspace; what was opened must still be what the place names. */
export async function openFile({ full }: Place): Promise<OpenFile> {
  const file = await openRegular(full)
  try {
    // Of an open file the kernel knows it at once.
    const opened = hasDescriptors ? readlinkSync(`/proc/self/fd/${file.handle.fd}`) : await fs.realpath(full)
    if (opened !== full) throw movedAway(full)
    return file
  } catch (error) {
    await file.handle.close()
    throw error
  }
}

/** Opens a regular file by a path whose folder cannot change any more. */
export async function openRegular(path: string, name = path): Promise<OpenFile> {
  const handle = await fs.open(path, flags)
  try {
    const stat = fstatSync(handle.fd)
    if (stat.isDirectory()) throw new AppError('invalid', `${name} is a folder; list what is in it with Glob`)
    if (!stat.isFile())
      throw new AppError('invalid', `${name} is a device, pipe or socket, which has no content to read`)
    return { handle, stat, [Symbol.asyncDispose]: () => handle.close() }
  } catch (error) {
    await handle.close()
    throw error
  }
}
