import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  type Stats,
} from 'node:fs'
import { AppError } from '../../contract/errors.ts'
import type { Place } from '../system/place.ts'
import { movedAway } from './held-folder.ts'

/** A file that is open for reading. */
export type OpenFile = Disposable & { readonly fd: number; readonly stat: Stats }

// Without waiting: a pipe has nobody at its other end.
const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
const hasDescriptors = existsSync('/proc/self/fd')

/** Opens a regular file of the workspace; what was opened must still be what the place names. */
export function openFile({ full }: Place): OpenFile {
  const file = openRegular(full)
  try {
    const opened = hasDescriptors ? readlinkSync(`/proc/self/fd/${file.fd}`) : realpathSync.native(full)
    if (opened !== full) throw movedAway(full)
    return file
  } catch (error) {
    closeSync(file.fd)
    throw error
  }
}

/** Opens a regular file by a path whose folder cannot change any more. */
export function openRegular(path: string, name = path): OpenFile {
  const fd = openSync(path, flags)
  try {
    const stat = fstatSync(fd)
    if (stat.isDirectory()) throw new AppError('invalid', `${name} is a folder; list what is in it with Glob`)
    if (!stat.isFile())
      throw new AppError('invalid', `${name} is a device, pipe or socket, which has no content to read`)
    return { fd, stat, [Symbol.dispose]: () => closeSync(fd) }
  } catch (error) {
    closeSync(fd)
    throw error
  }
}
