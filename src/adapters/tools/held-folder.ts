import { constants, existsSync, promises as fs } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '../../contract/errors.ts'

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
export const movedAway = (path: string): AppError =>
  new AppError('conflict', `${path} was made to lead elsewhere meanwhile; look again and repeat the call`)

function onlyThere(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error
}
