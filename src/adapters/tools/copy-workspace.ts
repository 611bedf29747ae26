import { constants, promises as fs } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '../../contract/errors.ts'
import { type Entry, takeSnapshot } from './snapshot.ts'

const mostEntries = 50_000
const mostBytes = 1 << 30
const atOnce = 16

/** Copies a project as it stands, with what is not committed or ignored; refused as too large before anything is copied. */
export async function copyWorkspace(workspace: string, folder: string, signal: AbortSignal): Promise<string> {
  const found = await takeSnapshot(workspace, [''], { mostEntries, signal })
  const bytes = [...found.values()].reduce((sum, { kind, size }) => sum + (kind === 'file' ? size : 0), 0)
  if (bytes > mostBytes) throw new AppError('too_large', `This project has ${bytes} bytes, too many to copy`)
  const copy = join(folder, 'copy')
  await fs.mkdir(copy)
  const entries = [...found].sort(([a], [b]) => (a < b ? -1 : 1))
  const folders = entries.filter(([, { kind }]) => kind === 'folder')
  for (const [path] of folders) await fs.mkdir(join(copy, path))
  const others = entries.filter(([, { kind }]) => kind !== 'folder')
  for (let i = 0; i < others.length; i += atOnce) {
    signal.throwIfAborted()
    const some = others.slice(i, i + atOnce)
    await Promise.all(some.map(([path, entry]) => copyOne(join(workspace, path), join(copy, path), entry)))
  }
  // Last: a folder that may not be written takes no files, and each file that comes changes its time.
  for (const [path, entry] of folders.toReversed()) await keepMarks(join(copy, path), entry)
  return copy
}

async function copyOne(from: string, to: string, entry: Entry): Promise<void> {
  if (entry.kind === 'link') {
    await fs.symlink(entry.target ?? '', to)
    return fs.lutimes(to, entry.mtimeMs / 1000, entry.mtimeMs / 1000)
  }
  if (entry.kind !== 'file') return
  try {
    await fs.copyFile(from, to, constants.COPYFILE_FICLONE)
  } catch (error) {
    // What cannot be read, or is gone meanwhile, is not in the copy either.
    if (['EACCES', 'EPERM', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '')) return
    throw error
  }
  await keepMarks(to, entry)
}

/** By its time git and build tools tell that a file is the same. */
async function keepMarks(path: string, { mode, mtimeMs }: Entry): Promise<void> {
  await fs.chmod(path, mode)
  await fs.utimes(path, mtimeMs / 1000, mtimeMs / 1000)
}
