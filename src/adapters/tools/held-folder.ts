import { randomUUID } from 'node:crypto'
import {
  closeSync,
  constants,
  existsSync,
  promises as fs,
  fstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  type Stats,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { AppError } from '../../contract/errors.ts'
import { type Place, placeInside } from '../system/place.ts'
import { isAlive } from '../system/temporary-files.ts'

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants

/** A folder of the workspace that stays the same one, though its path is made to lead elsewhere. */
export type HeldFolder = AsyncDisposable & {
  /** The path of something in it, for the calls of `fs`. */
  at(name: string): string
}

type Options = {
  readonly create?: boolean
  /** Linux names what is in an open folder; elsewhere the path is looked at once more after it was opened. */
  readonly byDescriptor?: boolean
}

const hasDescriptors = existsSync('/proc/self/fd')

/** Opens a folder part by part and follows no link; its links have been resolved before. */
export async function holdFolder(
  workspace: string,
  relative: string,
  { create = false, byDescriptor = hasDescriptors }: Options = {},
): Promise<HeldFolder> {
  let path = workspace
  let handle = await fs.open(path, O_RDONLY | O_DIRECTORY)
  const at = (name: string) => join(byDescriptor ? `/proc/self/fd/${handle.fd}` : path, name)
  try {
    for (const part of relative.split('/').filter((one) => one !== '' && one !== '.')) {
      if (create) await fs.mkdir(at(part)).catch(onlyThere)
      const next = await fs.open(at(part), O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
      await handle.close()
      handle = next
      path = join(path, part)
      if (!byDescriptor && (await fs.realpath(path)) !== path) throw movedAway(path)
    }
  } catch (error) {
    await handle.close()
    throw error
  }
  return { at, [Symbol.asyncDispose]: () => handle.close() }
}

/** The refusal of a path that leads elsewhere than it did a moment ago. */
const movedAway = (path: string): AppError =>
  new AppError(
    'conflict',
    `${path} was changed to point elsewhere in the meantime; look again and repeat the call`,
  )

function onlyThere(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error
}

/** A file that is open for reading. */
export type OpenFile = Disposable & { readonly fd: number; readonly stat: Stats }

// Without waiting: a pipe has nobody at its other end.
const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

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

const named = /^\.muster-(\d+)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** The name of a file under which new content is made before it takes its place; it says whose it is. */
export const draftName = (): string => `.muster-${process.pid}-${randomUUID()}`

/** Takes away what a process that was killed has left beside a file that it was about to change. */
export async function removeDrafts(workspace: string, path: string): Promise<void> {
  const place = await placeInside(workspace, path)
  await using folder = await holdFolder(place.workspace, dirname(place.relative))
  for (const name of await fs.readdir(folder.at('.'))) {
    const pid = named.exec(name)?.[1]
    if (pid !== undefined && !isAlive(Number(pid))) await fs.rm(folder.at(name), { force: true })
  }
}
